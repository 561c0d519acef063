#!/bin/sh
# threads.sh - a preloaded module records every thread that runs a state, not the one alone that
# made it; each thread shows what it runs itself.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

{ burn_lua && cat; } >"$SCRATCH/turns.lua" <<'END'
function first() local x = burn(0.2) return x end
function second() local x = burn(0.2) return x end
function third() local x = burn(0.2) return x end
function last() local x = burn(0.2) return x end
END

recorded() # SCRIPT [in-c]
{
    build_host threads_host.c && rm -f "$SCRATCH/cap" &&
        JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall \
            LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
            "$SCRATCH/host" "$@" >"$SCRATCH/out" 2>&1
    recorded_status=$?
    cat "$SCRATCH/out"
    [ $recorded_status = 0 ] && [ ! -s "$SCRATCH/out" ] && whole
}

threads_are() # N
{
    "$JSPROF_TOOL" threads --csv "$SCRATCH/cap" >"$SCRATCH/threads.out"
    cat "$SCRATCH/threads.out"
    [ "$(grep -c , "$SCRATCH/threads.out")" = $(($1 + 1)) ]
}

# The main thread waits in pthread_join meanwhile, and shows nothing of Lua's there.
waits_alone()
{
    stacks >"$SCRATCH/stacks.out"
    grep -q 'C:in_thread' "$SCRATCH/stacks.out" || { echo 'it never waits'; return 1; }
    ! grep "C:in_thread" "$SCRATCH/stacks.out" | grep "\.lua:"
}

# A module that is required records the thread that does so.
required()
{
    { echo 'require "jsprof"'; cat "$SCRATCH/turns.lua"; } >"$SCRATCH/required.lua"
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall LD_PRELOAD=$ASAN_LIBRARY \
        "$SCRATCH/host" "$SCRATCH/required.lua" && whole && threads_are 1
}

# The work is done in C, before any Lua function is called.
works_in_c()
{
    sed 's/burn(0.2)/burn(0)/' "$SCRATCH/turns.lua" >"$SCRATCH/short.lua"
    recorded "$SCRATCH/short.lua" in-c
}

says_lua_is_rare() # REGEX TIMES
{
    "$JSPROF_TOOL" report "$SCRATCH/cap" >"$SCRATCH/report.out" || return 1
    tail -n 3 "$SCRATCH/report.out"
    [ "$(grep -c "$1" "$SCRATCH/report.out")" = "$2" ]
}

one()
{
    check 'a program hands its state from thread to thread' recorded \
        "$SCRATCH/turns.lua"
    check 'all of its threads are recorded' threads_are 4
    for line in 8 11; do
        check "line $line: in the main thread" share_is 3 40 \
            "burn .*turns.lua:1. .*turns.lua:$line. .*C:main$t"
    done
    check 'line 9: in two other threads' share_is 6 70 \
        "burn .*turns.lua:1. .*second .[^$t]*turns.lua:9. .*C:worker_main$t"
    check 'line 10: in a coroutine of another' share_is 3 40 \
        "burn .*turns.lua:1. .*third .[^$t]*turns.lua:10. .*C:coroutine_main$t"
    check 'a thread that waits shows nothing of Lua' waits_alone
    check 'the report says nothing of that' says_lua_is_rare '^Lua is in ' 0
    check 'a program that requires the module' required
    check 'its thread is seen' share_is 3 90 \
        "burn .*required.lua:2. .*required.lua:(9|12). .*C:main$t"
    check 'it does not show what others run while it waits' waits_alone
    check 'a program that does its work in C' works_in_c
    check 'the report says that Lua is rare, and why' says_lua_is_rare \
        '^Lua is in .*% of the time; the rest is C code that no Lua function called, or waiting' 1
}

each_version one
finish
