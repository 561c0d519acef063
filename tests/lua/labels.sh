#!/bin/sh
# labels.sh - the labels that a Lua program sets, and those of a function that it calls with one,
# read back by the tool.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

told()
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/labels.lua" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    "$JSPROF_TOOL" report --by label --csv "$SCRATCH/cap" >"$SCRATCH/report"
}

has() # LABELS
{
    cat "$SCRATCH/report"
    grep -qF -- "$1" "$SCRATCH/report"
}

one()
{
    check 'the program runs' told
    check 'the capture is whole' whole
    check 'a label of the program' has '"tenant=7",'
    check 'a label of a function' has 'route=/login, tenant=7'
    check 'a label of one that fails' has 'route=/bad, tenant=7'
    check 'no label in the end' has '[no label]'
    check 'no other' sh -c "cat '$SCRATCH/report'; [ \$(wc -l <'$SCRATCH/report') -eq 5 ]"
}

each_version one
finish
