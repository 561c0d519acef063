#!/bin/sh
# storm.sh - samples at 10000 Hz while everything that a Lua state is made of changes:
# the program's output is its own, nothing crashes, every expiration is accounted for.
# LONG=1: until 1,000,000 samples were taken of each version.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

target=300
depth=300
[ -n "${LONG:-}" ] && target=1000000 depth=20

samples() # of the last capture
{
    "$JSPROF_TOOL" dump "$SCRATCH/cap" | grep -c ' SAMPLE '
}

storm() # ROUNDS CLOCK
{
    record --profile-hz=10000 --profile-clock="$2" "$SCRIPTS/storm.lua" "$1" "$depth" \
        >"$SCRATCH/out" 2>"$SCRATCH/err" || { cat "$SCRATCH/err"; return 1; }
    cat "$SCRATCH/out" "$SCRATCH/err"
    [ "$(cat "$SCRATCH/out")" = 'done' ] && [ ! -s "$SCRATCH/err" ] && whole
}

until_enough()
{
    n=0
    rounds=40
    [ "$VERSION" = jit ] && rounds=200
    [ -n "${LONG:-}" ] && rounds=4000
    while [ "$n" -lt "$target" ]; do
        storm $rounds wall || return 1
        n=$((n + $(samples)))
    done
    echo "$VERSION: $n samples" >&2
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

each_version one
finish
