#!/bin/sh
# allocations.sh - samples of allocations: shares, sums and live bytes against what the script and
# Lua's own account know, with LuaJIT's compiler at work.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
. "$SRCDIR/tests/lib-allocations.sh"

# Tables of two kinds, three of the first for each of the second; `keep` ones stay. The last line
# is the number of bytes that stay. LuaJIT knows a compiled function from its first comparison on.
cat >"$SCRATCH/garbage.lua" <<'END'
local kept = {}
local function three(i)
    if i == 0 then return end
    sink = { i, i, i, i } sink = { i, i, i, i } sink = { i, i, i, i }
end
local function one(i) if i == 0 then return end sink = { i, i, i, i } end
local function keep(i) kept[i] = { i, i, i, i } end
for i = 1, 100000 do three(i) one(i) end
collectgarbage() collectgarbage()
local before = collectgarbage("count")
for i = 1, 50000 do keep(i) end
collectgarbage() collectgarbage()
print(math.floor((collectgarbage("count") - before) * 1024))
END

taken() # OPTION...
{
    record "$@" "$SCRATCH/garbage.lua" >"$SCRATCH/out" && whole &&
        bytes alloc >"$SCRATCH/bytes" && cat "$SCRATCH/bytes"
}

exactly() # the bytes that Lua's allocator gave
{
    stacks_dump=$("$JSPROF_TOOL" dump "$SCRATCH/cap")
    printf '%s\n' "$stacks_dump" | sed -n 's/.*thread id=0 .* alloc_bytes=\([0-9]*\).*/\1/p' |
        tail -n 1
}

sums()
{
    near "$(value all)" "$(exactly)"
}

shares()
{
    both=$(($(value three) + $(value one)))
    near "$(value three)" $((both * 3 / 4)) && near "$(value one)" $((both / 4))
}

live()
{
    bytes live >"$SCRATCH/bytes" && cat "$SCRATCH/bytes"
    # compiled into its caller, keep has no frame
    if [ "$VERSION" = jit ]; then of=all; else of=keep; fi
    near "$(value $of)" "$(cat "$SCRATCH/out")"
}

# Where Lua's account has the collector's rounds, few tables outlive two of them.
gone()
{
    [ "$(value three)" -le 600000 ] && [ "$(value one)" -le 600000 ]
}

compiled()
{
    [ "$VERSION" != jit ] && return 0
    "$JSPROF_TOOL" report --measure alloc --csv "$SCRATCH/cap" | grep 'three' | grep -q jit
}

lines()
{
    "$JSPROF_TOOL" report --measure alloc "$SCRATCH/cap" |
        grep -Eq 'three .*garbage.lua:2.* :4 [1-9][0-9]+%'
}

# The program has its memory as without: the state's allocator is its own again after stop.
stopped()
{
    cat >"$SCRATCH/stop.lua" <<'END'
local jsprof = require "jsprof"
jsprof.start{ output = arg[1], alloc = 2 }
local t = {} for i = 1, 1000 do t[i] = { i } end
jsprof.stop()
for i = 1, 1000 do t[i] = { i, i } end
t = nil collectgarbage()
END
    rm -f "$SCRATCH/cap"
    stock "$SCRATCH/stop.lua" "$SCRATCH/cap" && whole &&
        "$JSPROF_TOOL" info "$SCRATCH/cap" |
        grep -E 'allocated +[0-9,]+ sampled allocations, one in each 2 B'
}

by_environment()
{
    rm -f "$SCRATCH/cap"
    JSPROF="$SCRATCH/cap" JSPROF_ALLOC=1 stock -e 'require "jsprof"' "$SCRATCH/garbage.lua" \
        >/dev/null && whole && "$JSPROF_TOOL" info "$SCRATCH/cap" |
        grep -E 'allocated +[0-9,]+ sampled allocations, one in each 512 KiB'
}

not_asked()
{
    record "$SCRATCH/garbage.lua" >/dev/null && whole &&
        ! "$JSPROF_TOOL" info "$SCRATCH/cap" | grep allocated &&
        ! "$JSPROF_TOOL" report --measure alloc "$SCRATCH/cap" 2>"$SCRATCH/err" &&
        one_line "$SCRATCH/err" 'no sampled allocations in this capture'
}

one()
{
    check 'allocations are sampled' taken --profile-alloc=16384
    check 'they add up to what was allocated' sums
    check 'a function that allocates three times as much has three times the share' shares
    check 'lines are known' lines
    check 'compiled code is' compiled
    check 'live bytes are those of collectgarbage "count"' live
    check 'garbage is not live' gone
    check 'with calls, too' taken --profile-mode=both --profile-alloc=16384
    check 'and they add up' sums
    check 'stop gives the allocator back' stopped
    check 'JSPROF_ALLOC asks for them' by_environment
    check 'nothing is sampled that nobody asked for' not_asked
}

each_version one
finish
