#!/bin/sh
# calls.sh - calls that are counted are as many as the program counted itself: recursion,
# tail calls, coroutines, errors, C functions, beside a hook that the program sets.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

fib_counts() # MODE: nothing else is said than that line
{
    stock "$SCRIPTS/counts.lua" "$SCRATCH/cap" "$1" >"$SCRATCH/out" || return 1
    cat "$SCRATCH/out"
    [ "$(cat "$SCRATCH/out")" = 'fib 9151' ]
}

table_has() # CALLS REGEX
{
    "$JSPROF_TOOL" calls "$SCRATCH/cap" >"$SCRATCH/calls" || return 1
    cat "$SCRATCH/calls"
    grep -Eq "^ +$1 .*$2" "$SCRATCH/calls"
}

one()
{
    check 'the counts agree' fib_counts calls
    check 'the capture holds them' table_has 9,151 'fib .*counts.lua:12'
    check 'tail calls are calls' table_has 1,001 'tail .*counts.lua:20'
    check 'C functions are counted' table_has 20 'pcall'
    check 'the counts agree while samples are taken' fib_counts both
    check 'and the capture is whole' whole
    check 'without counting there is no table' sh -c "! LD_PRELOAD=$ASAN_LIBRARY $LUA -e '
        local j = require [[jsprof]]
        j.start{output = [[$SCRATCH/cap]]} j.calls()' 2>/dev/null"
}

each_version one
finish
