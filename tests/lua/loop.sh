#!/bin/sh
# loop.sh - coroutines that C resumes, as event loops do: their functions are seen, on top of
# the callers of the loop, and have the right time.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

natives="(I:$any|C:$any)*"

# A Lua function that begins in this line of the script.
at() # LINE
{
    printf '%s' "[^$t]*loop.lua:$1\\) :[0-9]+$t"
}
turn="(I:$any)*$(at 4)$(at 12)"

hosted() # CASE
{
    build_host loop_host.c && rm -f "$SCRATCH/cap" &&
        "$SCRATCH/host" "$SCRATCH/cap" "$SCRIPTS/loop.lua" "$1" && whole
}

one()
{
    check 'a loop while no Lua function runs' hosted idle
    check 'its tasks are seen, and nothing that ran before' share_is 90 100 \
        "$turn$(at '(19|20)')${natives}C:loop_turn${t}C:loop_run${t}C:main$t"
    # 30 turns of 12 ms, and 30 of 4 ms
    check 'in proportion' share_near 75 "$(at 20)" "$(at '(19|20)')"
    check 'a loop that a Lua function calls' hosted called
    calls="$(at 31)${natives}C:main$t"
    loop="${natives}C:loop_turn${t}C:loop_run${t}C:loop_called$t${natives}loop ..C..$t"
    wrapped="${natives}coroutine.wrap resume ..C..$t$natives"
    # 480 ms of those, and 216 ms of others
    check 'its tasks are seen above who called it' share_near 69 \
        "$turn$(at '(19|20)')$loop$natives$calls" "$(at 4)"
    check 'so are those of a loop in a coroutine of a task' share_near 31 \
        "$turn$(at 24)$loop$natives$(at 25)$wrapped$(at 26)$loop$natives$calls" \
        "$(at 4)"
}

each_version one
finish
