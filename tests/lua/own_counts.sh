#!/bin/sh
# own_counts.sh - exact calls of each benchmark are as many as the program counts itself:
# of all its Lua functions, and of the library's functions that it calls. LONG=1: longer
# runs of them.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# Its only line; the counts are many.
agrees() # PROGRAM ARG FUNCTIONS CALLS [WHAT]: at least so many
{
    # shellcheck disable=SC2086
    stock "$SCRIPTS/own_counts.lua" "$SCRATCH/cap" "$SRCDIR/examples/lua/$1.lua" "$2" ${5:-} \
        >"$SCRATCH/out" || return 1
    cat "$SCRATCH/out"
    awk -v functions="$3" -v calls="$4" '
        NR == 1 && / functions agree, [0-9]+ calls$/ && $1 >= functions && $4 >= calls { ok = 1 }
        END { exit !(ok && NR == 1) }' "$SCRATCH/out"
}

one()
{
    if [ -n "${LONG:-}" ]; then
        check 'fib' agrees fib 27 10 635000
        check 'binary trees' agrees trees 11 11 80000
        check 'n-body' agrees nbody 20000 13 300000
        check 'strings' agrees strings 50 13 100000
        check 'a ring of coroutines' agrees ring 2000 12 400000
        return
    fi
    check 'fib' agrees fib 16 10 3190
    check 'binary trees' agrees trees 6 11 2260
    check 'n-body' agrees nbody 50 13 800
    check 'strings' agrees strings 2 13 6000
    check 'a ring of coroutines' agrees ring 20 12 4300
    # Counts alone have a hook of their own.
    check 'fib, without times' agrees fib 16 10 3190 count
    check 'strings, without times' agrees strings 2 13 6000 count
    check 'a ring of coroutines, without times' agrees ring 20 12 4300 count
}

each_version one
finish
