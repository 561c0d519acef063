#!/bin/sh
# errors.sh - what goes wrong in a Lua program or in what it asks of us: the message is
# one line, the exit status is Lua's, the capture is complete all the same.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

burn='local function burn(n) local x = 0 for i = 1, n or 3e6 do x = x + i % 7 end return x end '

fails_with() # STATUS REGEX SCRIPT-TEXT
{
    printf '%s\n' "$3" >"$SCRATCH/script.lua"
    record "$SCRATCH/script.lua" >"$SCRATCH/out" 2>"$SCRATCH/err"
    found=$?
    echo "status $found"
    cat "$SCRATCH/err"
    [ "$found" = "$1" ] && { [ -z "$2" ] || grep -Eq -- "$2" "$SCRATCH/err"; }
}

# Not under the address sanitizer, which needs more room than that for itself.
fails_without_memory()
{
    [ -n "$ASAN_LIBRARY" ] && return 0
    (ulimit -v 350000 && fails_with 1 'not enough memory|too (large|long)|overflow' \
        "$burn burn() local t = 'x' while true do t = t .. t end") && whole
}

# jsprof.start refuses, in one line that says why.
refuses() # REGEX OPTIONS
{
    stock -e "require('jsprof').start$2" >"$SCRATCH/out" 2>"$SCRATCH/err" && return 1
    head -n 1 "$SCRATCH/err"
    head -n 1 "$SCRATCH/err" | grep -Eq -- "$1"
}

# A value that a variable can not have is named in one line, and nothing runs.
WRONG='JSPROF_HZ=99999 a whole number from
JSPROF_CLOCK=x cpu or wall
JSPROF_CHILDREN=y 0 or 1 is allowed
JSPROF_DEPTH=x is allowed
JSPROF_SOURCE=x is allowed
JSPROF_NO_THREAD=2 is allowed
JSPROF_CALLS=count,x is allowed
JSPROF_CONTROL=x 0 or 1 is allowed
JSPROF_LOOP=yes 0 or 1 is allowed
JSPROF_TASKS=yes 0 or 1 is allowed
JSPROF_TRACES=yes 0 or 1 is allowed'

wrong_variables() # COMMAND...
{
    printf '%s\n' "$WRONG" | while read -r wrong why; do
        env "$wrong" JSPROF="$SCRATCH/refused.cap" "$@" -e 'print "ran"' >"$SCRATCH/out" \
            2>"$SCRATCH/err" && { echo "$wrong is allowed"; exit 1; }
        head -n 1 "$SCRATCH/err" >"$SCRATCH/line"
        one_line "$SCRATCH/line" "${wrong%=*}.*$why" && [ ! -s "$SCRATCH/out" ] &&
            [ ! -e "$SCRATCH/refused.cap" ] || exit 1
    done
}

# The walker reads the child's memory, not the parent's: "inside" is called after the fork.
forked()
{
    mkdir -p "$SCRATCH/forked" && rm -f "$SCRATCH"/forked/*
    env "JSPROF=$SCRATCH/forked/x-%p.cap" JSPROF_CHILDREN=1 "$B/bin/jsprof-lua" \
        --version "$VERSION" -e 'local ffi = require "ffi"
        ffi.cdef "int fork(void); int waitpid(int, int *, int);"
        local function burn(s) local t = os.clock() while os.clock() - t < s do end end
        local function inside() burn(0.3) end
        local function outside() burn(0.3) end
        local pid = ffi.C.fork()
        if pid == 0 then inside() else outside() ffi.C.waitpid(pid, nil, 0) end' || return 1
    [ "$(find "$SCRATCH/forked" -name 'x-*.cap' | wc -l)" = 2 ] || return 1
    for forked_side in inside outside; do
        forked_has=0
        for forked_cap in "$SCRATCH"/forked/x-*.cap; do
            "$JSPROF_TOOL" report --csv --limit 0 "$forked_cap" | grep -q "$forked_side" &&
                forked_has=$((forked_has + 1))
        done
        [ $forked_has = 1 ] || return 1
    done
}

# A child that is not recorded and fails prints its own message only, and leaves the capture.
forked_fails()
{
    rm -f "$SCRATCH/cap"
    "$B/bin/jsprof-lua" --version "$VERSION" --profile-output="$SCRATCH/cap" -e '
        local ffi = require "ffi"
        ffi.cdef "int fork(void); int waitpid(int, int *, int);"
        local pid = ffi.C.fork()
        if pid == 0 then error "child fails" end
        ffi.C.waitpid(pid, nil, 0)' 2>"$SCRATCH/err" || return 1
    cat "$SCRATCH/err"
    grep -q 'child fails' "$SCRATCH/err" && ! grep -q 'capture' "$SCRATCH/err" && whole
}

usage() # REGEX ARGS...
{
    usage_wanted=$1
    shift
    "$B/bin/jsprof-lua" --version "$VERSION" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    [ $? = 2 ] && one_line "$SCRATCH/err" "$usage_wanted"
}

# The shell lets what it starts in the background ignore SIGINT.
interrupted() # SIGNAL STATUS MODE
{
    printf '%s\n' "$burn burn() io.open('$SCRATCH/ready', 'w'):close()" \
        'while true do burn(1e4) end' >"$SCRATCH/script.lua"
    rm -f "$SCRATCH/ready"
    env --default-signal=INT "$B/bin/jsprof-lua$VERSION" --profile-output="$SCRATCH/cap" \
        --profile-mode="$3" "$SCRATCH/script.lua" &
    interrupted_pid=$!
    tries=0
    while [ ! -e "$SCRATCH/ready" ] && [ $tries -lt 300 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -"$1" $interrupted_pid
    wait $interrupted_pid
    [ $? = "$2" ] && whole
}

# os.exit in the middle of calls that are counted.
exits_counted()
{
    printf '%s\n' "$burn for i = 1, 7 do burn(10) end os.exit(7)" >"$SCRATCH/script.lua"
    record --profile-mode=calls --profile-alloc "$SCRATCH/script.lua"
    [ $? = 7 ] && whole && "$JSPROF_TOOL" calls "$SCRATCH/cap" | grep -Eq '^ +7 .* burn '
}

wrong_version()
{
    for wrong_other in $VERSIONS; do
        [ "$wrong_other" = "$VERSION" ] && continue
        [ -f "$B/lib/lua/$wrong_other/jsprof.so" ] || continue
        LUA_CPATH="$B/lib/lua/$wrong_other/?.so" stock -e 'require "jsprof"' \
            >"$SCRATCH/out" 2>"$SCRATCH/err" && { echo "$wrong_other loads"; return 1; }
        grep -q "built for Lua $wrong_other and runs in Lua $VERSION" "$SCRATCH/err" ||
            { cat "$SCRATCH/err"; return 1; }
    done
}

runs() # SCRIPT-TEXT: with the stock interpreter, the capture is whole
{
    printf '%s\n' "$1" >"$SCRATCH/script.lua"
    rm -f "$SCRATCH/cap"
    CAP=$SCRATCH/cap stock "$SCRATCH/script.lua" >"$SCRATCH/out" 2>"$SCRATCH/err" ||
        { cat "$SCRATCH/err"; return 1; }
    whole
}
count='local jsprof = require "jsprof" jsprof.start{ output = os.getenv "CAP", mode = "calls",
    alloc = true } '
begin='local jsprof = require "jsprof" jsprof.start{ output = os.getenv "CAP", hz = 5000 } '
begin_wall='local jsprof = require "jsprof" jsprof.start{ output = os.getenv "CAP", hz = 5000,
    clock = "wall" } '

names_are_clean()
{
    n=2e6
    [ "$VERSION" = jit ] && n=3e7
    runs "$begin_wall $burn
        jsprof.wrap(burn, 'zero\\0inside')($n)
        jsprof.wrap(burn, 'bad\\255utf8')($n)
        local load = loadstring or load
        local long = load('$burn burn($n)', '=' .. ('n'):rep(1e6))
        long()
        jsprof.mark('m\\0ark', ('x'):rep(1e6))
        jsprof.counter('c\\255', 1)" || return 1
    stacks >"$SCRATCH/stacks"
    cut -c 1-200 "$SCRATCH/stacks" | head -n 5
    grep -q 'zero?inside' "$SCRATCH/stacks" && grep -q 'bad?utf8' "$SCRATCH/stacks" &&
        grep -q 'nnnn\.\.\.' "$SCRATCH/stacks"
}

# Of functions that are counted, in the table.
counted_names_are_clean()
{
    runs "$count local function f() end
        jsprof.wrap(f, 'zero\\0inside')()
        jsprof.wrap(f, 'bad\\255utf8')()
        local load = loadstring or load
        load('return 1', '=' .. ('n'):rep(1e6))()" &&
        "$JSPROF_TOOL" calls "$SCRATCH/cap" >"$SCRATCH/table" || return 1
    cut -c 1-200 "$SCRATCH/table"
    grep -q 'zero?inside' "$SCRATCH/table" && grep -q 'bad?utf8' "$SCRATCH/table" &&
        grep -q 'nnnn\.\.\.' "$SCRATCH/table"
}

# The disk is full, and the script ends in the middle.
no_room_is_told()
{
    record --profile-output=/dev/full -e 'os.exit(3)' 2>"$SCRATCH/err"
    no_room_status=$?
    cat "$SCRATCH/err"
    [ $no_room_status = 3 ] &&
        one_line "$SCRATCH/err" 'jsprof-lua: the capture is not complete: no space'
}

one()
{
    check 'a full disk is told when os.exit ends the script' no_room_is_told
    check 'a script that is not there' fails_with_missing
    check 'a syntax error' fails_with 1 'script.lua:1: .*near' 'local = 1'
    check 'it is recorded' whole
    check 'a runtime error has its traceback' fails_with 1 'script.lua:1: at last' \
        "$burn burn() error 'at last'"
    grep -q 'stack traceback' "$SCRATCH/err" || fail 'no traceback'
    check 'it is recorded' whole
    check 'an error without a message' fails_with 1 'jsprof-lua: .*table' 'error({})'
    check 'out of memory' fails_without_memory
    check 'endless recursion' fails_with 1 'stack overflow' \
        'local function f() return 1 + f() end f()'
    check 'it is recorded' whole
    check 'os.exit' fails_with 7 '' "$burn burn() io.stderr:write('gone') os.exit(7)"
    check 'completes the capture' whole
    check 'a child of io.popen' fails_with 0 '' \
        "$burn burn() local p = io.popen('echo child') assert(p:read() == 'child') p:close() burn()"
    check 'does not write into it' whole
    check 'completes what was counted' exits_counted
    check 'a program that is stopped by a signal' interrupted TERM 143 sample
    check 'a program that is interrupted while it is counted' interrupted INT 130 both
    check 'a state that is closed while it records' runs "$begin $burn
        local kept = setmetatable({}, { __gc = function() burn() end }) burn()"
    check 'a state that is closed while it is counted' runs "$count $burn
        local kept = setmetatable({}, { __gc = function() burn(1e5) end }) burn(1e5)"
    check 'a module of another version says so' wrong_version
    check 'names of zeros, of no UTF-8 and of a megabyte' names_are_clean
    check 'the same names where calls are counted' counted_names_are_clean
    check 'an unknown option' refuses "no option 'out'" "{out = 'x'}"
    check 'a rate of the wrong kind' refuses 'hz must be a number, not a string' "{hz = 'x'}"
    check 'a rate out of range' refuses 'hz=0: a whole number from 1 to 10000 is allowed' "{hz = 0}"
    check 'an unknown clock' refuses 'clock=sun: cpu or wall is allowed' "{clock = 'sun'}"
    check 'an alloc of the wrong kind' refuses 'alloc must be true, false or a number' \
        "{alloc = 'some'}"
    check 'an alloc out of range' refuses 'a whole number from 0 to 1073741824' \
        "{alloc = 2e9}"
    check 'a flag of the wrong kind' refuses 'compact must be true or false' "{compact = 1}"
    check 'an unknown mode' refuses 'mode is' "{mode = 'all'}"
    check 'a path with a zero' refuses 'zero byte' "{output = 'a\\0b'}"
    check 'a folder that is not there' refuses '/no/where: no such file' "{output = '/no/where'}"
    for mark in tasks loop traces; do
        [ "$VERSION$mark" = jittraces ] || [ $mark != traces ] || continue
        check "exact calls have no $mark" refuses "$mark needs mode \"sample\"" \
            "{ output = '$SCRATCH/cap', $mark = true, mode = 'calls' }"
    done
    check 'the module names wrong variables' wrong_variables env LUA_INIT='require "jsprof"' \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
    check 'and so does jsprof-lua' wrong_variables "$B/bin/jsprof-lua" --version "$VERSION"
    check 'a limit of stalls has a unit' usage 'profile-stalls=16' \
        --profile-output="$SCRATCH/cap" --profile-stalls=16 x.lua
    check 'a distance is a number' usage \
        '--profile-alloc=many: a whole number from 0 to 1073741824' \
        --profile-output="$SCRATCH/cap" --profile-alloc=many x.lua
    [ "$VERSION" != jit ] || check 'a child of fork goes on in its own file' forked
    [ "$VERSION" != jit ] || check 'a child that fails says nothing of it' forked_fails
    check 'recording twice' refuses 'it records already' \
        "{output = '$SCRATCH/cap'}; require('jsprof').start{output = '$SCRATCH/cap'}"
    check 'an option of nobody' usage 'no such option' --profile x.lua
    check 'no script' usage 'no script'
}

fails_with_missing()
{
    record "$SCRATCH/none.lua" 2>"$SCRATCH/err"
    [ $? = 1 ] && one_line "$SCRATCH/err" 'cannot open .*none.lua'
}

each_version one
VERSION=6.0 UNDER=
[ ! -x "$B/bin/jsprof-lua" ] || check 'an unknown version' usage "not '6.0'" x.lua
finish
