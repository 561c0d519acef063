#!/bin/sh
# threads.sh - a preloaded module records every thread that runs a state, not the one alone that
# made it; each thread shows what it runs itself.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

cat >"$SCRATCH/turns.lua" <<'END'
local function burn(seconds)
  local x, start = 0, os.clock()
  repeat
    for i = 1, 20000 do x = x + i % 7 end
  until os.clock() - start > seconds
  return x
end
function first() local x = burn(0.2) return x end
function second() local x = burn(0.2) return x end
function third() local x = burn(0.2) return x end
function last() local x = burn(0.2) return x end
END

recorded()
{
    build_host threads_host.c && rm -f "$SCRATCH/cap" &&
        JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall \
            LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
            "$SCRATCH/host" "$SCRATCH/turns.lua" >"$SCRATCH/out" 2>&1
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
    ! grep 'C:in_thread' "$SCRATCH/stacks.out" | grep 'turns.lua'
}

one()
{
    check 'a program hands its state from thread to thread' recorded
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
}

each_version one
finish
