#!/bin/sh
# storm.sh - samples at 10000 Hz while everything that a Lua state is made of changes:
# the program's output is its own, nothing crashes, every expiration is accounted for.
# LONG=1: until 1,000,000 samples were taken of each version, several minutes for each;
# VERBOSE=1 prints the progress.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

target=300
depth=300
rounds=40
jit_rounds=200
[ -n "${LONG:-}" ] && target=1000000 depth=20 rounds=20000 jit_rounds=20000

# A figure of the last capture: "samples N for M timer expirations", "N kept + M lost".
figure() # NAME BEFORE OR AFTER IT
{
    "$JSPROF_TOOL" info "$SCRATCH/cap" | tr -d , | sed -n "s/^$1.*/\\1/p"
}

# A dump of many samples takes as long as they did; `info` counts them all.
accounted()
{
    [ -n "${LONG:-}" ] || { whole; return; }
    info_has ': adds up, and the file holds them all'
}

storm() # ROUNDS CLOCK
{
    record --profile-hz=10000 --profile-clock="$2" "$SCRIPTS/storm.lua" "$1" "$depth" \
        >"$SCRATCH/out" 2>"$SCRATCH/err" || { cat "$SCRATCH/err"; return 1; }
    cat "$SCRATCH/out" "$SCRATCH/err"
    [ "$(cat "$SCRATCH/out")" = 'done' ] && [ ! -s "$SCRATCH/err" ] && accounted
}

until_enough()
{
    samples=0 expirations=0 lost=0 runs=0
    [ "$VERSION" = jit ] && rounds=$jit_rounds
    while [ "$samples" -lt "$target" ]; do
        storm $rounds wall || return 1
        taken=$(figure '  samples *\([0-9]*\) for')
        [ "$taken" -gt 0 ] || return 1
        samples=$((samples + taken))
        expirations=$((expirations + $(figure '\([0-9]*\) expirations = ')))
        lost=$((lost + $(figure '.* kept + \([0-9]*\) lost')))
        runs=$((runs + 1))
        [ -z "${VERBOSE:-}" ] || echo "$VERSION: $samples samples so far" >&3
    done
    echo "$VERSION: $samples samples in $runs runs; all $expirations expirations are" \
        "accounted for, $lost as lost" >&3
}

named() # of samples that stand in Lua, nearly all name what runs
{
    stacks | awk -F '\t' '/storm.lua/ { n++ } /\[no VM frame\]/ { none++ }
        END { print n, none; exit !(n > 3 && none * 20 < n) }'
}

one()
{
    check 'the storm is survived' until_enough
    check 'its functions are named' named
    check 'the CPU clock as well' storm 20 cpu
}

exec 3>&2
each_version one
finish
