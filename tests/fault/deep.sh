#!/bin/sh
# fault/deep.sh - stacks deeper than a sample: the function that runs has the self time, and
# the report says where frames are missing. Seen failing with a reader that puts every cut at
# the leaf (100.0% of self), and with a handler that keeps the roots alone.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# self NAME - its share of self time, in whole percent
self()
{
    "$TOOL" report --csv "$SCRATCH/x.cap" | awk -F, -v name="$1" '
        NR > 1 { all += $3; if (index($1, name)) self += $3 }
        END { printf "%d\n", all ? 100 * self / all : 0 }'
}

advice() # NAME
{
    "$TOOL" report "$SCRATCH/x.cap" >"$OUT"
    grep -qF "$1 (" "$OUT" || fail "the report does not speak of $1"
}

for depth in 600 9000; do
    host "$SCRATCH/x.cap" 300 $depth
    readable "$SCRATCH/x.cap"
    [ "$(self 'frames cut]')" = 0 ] || fail "at $depth calls, $(self 'frames cut]')% of self is cut"
    [ "$(self 'work number')" -gt 50 ] || fail "the function that runs has $(self 'work number')%"
    advice '[frames cut]'
done

# More than the array of pushes holds: nobody knows which function runs.
host "$SCRATCH/x.cap" 300 20000
advice '[deeper frames cut]'

[ $FAILED = 0 ]
