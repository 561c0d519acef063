#!/bin/sh
# calls.sh - calls that are counted are as many as the program counted itself, and take the
# time that it measured: recursion, tail calls, coroutines, errors, C functions, beside a hook
# that the program sets.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
VERSIONS=$ALL_VERSIONS # each has its own way to see calls

fib_counts() # MODE [WHAT IS COUNTED]: nothing else is said than that line
{
    stock "$SCRIPTS/counts.lua" "$SCRATCH/cap" "$@" >"$SCRATCH/out" || return 1
    cat "$SCRATCH/out"
    [ "$(cat "$SCRATCH/out")" = 'fib 22551' ]
}

table_has() # CALLS REGEX
{
    "$JSPROF_TOOL" calls "$SCRATCH/cap" >"$SCRATCH/calls" || return 1
    cat "$SCRATCH/calls"
    grep -Eq "^ +$1 .*$2" "$SCRATCH/calls"
}

times_agree()
{
    times_rounds=300000
    [ "$VERSION" = jit ] && times_rounds=1000000
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/times.lua" "$SCRATCH/cap" $times_rounds >"$SCRATCH/out" 2>&1
    cat "$SCRATCH/out"
    [ "$(cat "$SCRATCH/out")" = 'all agree' ]
}

edge_is() # CALLS CALLER CALLEE
{
    "$JSPROF_TOOL" calls --edges "$SCRATCH/cap" >"$SCRATCH/calls" || return 1
    cat "$SCRATCH/calls"
    grep -Eq "^ +$1 .* $2 .*→ $3 " "$SCRATCH/calls"
}

# A coroutine that is older than the counting, and one that is started inside of another.
OLDER='local jsprof = require "jsprof"
    local function old() return 1 end
    local co = coroutine.wrap(function() while true do coroutine.yield(old()) end end)
    co()
    local function run()
        jsprof.start{ output = arg[1], mode = "calls" }
        for _ = 1, 10 do co() end
    end
    if arg[2] then coroutine.wrap(run)() else run() end
    for _, row in ipairs(jsprof.calls()) do
        if row.name == "old" then print(row.calls) end
    end
    jsprof.stop()'

older_ones() # [INSIDE]
{
    printf '%s\n' "$OLDER" >"$SCRATCH/older.lua"
    [ "$(stock "$SCRATCH/older.lua" "$SCRATCH/cap" "$@")" = 10 ] && whole
}

# More coroutines resume each other than a sample looks into.
NESTED='local jsprof = require "jsprof"
    local function innermost(n) return n + 1 end
    local function nest(n)
        if n > 0 then coroutine.wrap(function() nest(n - 1) end)() return end
        for i = 1, 7 do innermost(i) end
    end
    jsprof.start{ output = arg[1], mode = "calls" }
    nest(66)
    for _, row in ipairs(jsprof.calls()) do
        if row.name == "innermost" then print(row.calls) end
    end
    jsprof.stop()'

# Many that are left waiting, die, fail and are collected, and each is called once.
FORGOTTEN='local jsprof = require "jsprof"
    jsprof.start{ output = arg[1], mode = "calls" }
    local n = 30000
    local function body(i) if i % 3 == 0 then coroutine.yield() end
        if i % 3 == 1 then error("one of them") end end
    for i = 1, n do coroutine.resume(coroutine.create(body), i) end
    for _, row in ipairs(jsprof.calls()) do
        if row.name == "body" then print(row.calls) end
    end
    jsprof.stop()'

says() # WANT SCRIPT
{
    printf '%s\n' "$2" >"$SCRATCH/says.lua"
    [ "$(stock "$SCRATCH/says.lua" "$SCRATCH/cap")" = "$1" ] && whole
}

one()
{
    check 'the counts agree' fib_counts calls
    check 'the capture holds them' table_has 22,551 'fib .*counts.lua:12'
    check 'tail calls are calls' table_has 1,001 'tail .*counts.lua:20'
    check 'C functions are counted' table_has 20 'pcall'
    check 'times and callers agree' times_agree
    check 'the capture holds who called whom' edge_is 36 recurse recurse
    check 'and how long all took' table_has 45 'recurse .*times.lua:38'
    check 'a coroutine that is older is counted' older_ones
    check 'so it is when all of that runs in another' older_ones inside
    check 'and one that is far inside of others' says 7 "$NESTED"
    check 'coroutines that nobody resumes again are forgotten' says 30000 "$FORGOTTEN"
    check 'so they do without times, where a hook of its own counts' fib_counts calls count
    check 'the counts agree while samples are taken' fib_counts both
    check 'and the capture is whole' whole
    check 'without counting there is no table' sh -c "! LD_PRELOAD=$ASAN_LIBRARY $LUA -e '
        local j = require [[jsprof]]
        j.start{output = [[$SCRATCH/cap]]} j.calls()' 2>/dev/null"
}

each_version one
finish
