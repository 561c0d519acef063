#!/bin/sh
# lark/annotate.sh - a function of a real interpreter from inside: what the rows of its
# listing say is what its lines say, interpreted and compiled.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

record() # NAME OPTION...
{
    record_name=$1
    shift
    "$LARK" --profile-output="$SCRATCH/$record_name.cap" "$@" \
        "$PROGRAMS/quicksort.lark" 120000 >/dev/null
}
check 'recorded, interpreted' record plain --jit=off
check 'recorded, compiled' record native
check 'recorded, while code memory is reused' record reused --jit-threshold=1 \
    --jit-cache-bytes=9000

# Rows know their line, samples know theirs: both gave the same line for each of these frames.
# Only the entry of compiled code, line 40, is no operation.
rows_are_lines() # NAME FUNCTION
{
    "$JSPROF_TOOL" annotate --csv "$SCRATCH/$1.cap" "$2" >"$SCRATCH/$1.csv" || return 1
    awk -F, '
        $1 == "line" && $3 != 40 { self[$3] += $5; all += $5 }
        $1 == "row" { self[$3] -= $5; rows += $5; n++ }
        END {
            for (line in self)
                if (self[line] != 0) { print "line " line " is off by " self[line]; bad = 1 }
            print n " rows, " rows " of " all " ns"
            exit bad || all < 50000000 || n < 10
        }' "$SCRATCH/$1.csv"
}
for name in plain native reused; do
    check "rows add up to lines: digit_sum, $name" rows_are_lines "$name" digit_sum
    cat "$SCRATCH/check.out"
done

# Only the operations of the loop are hot.
loop_is_hot() # NAME
{
    awk -F, '$1 == "row" { all += $5; if ($4 >= 3 && $4 <= 17) loop += $5 }
        END { print loop / all " of self in the loop"; exit loop < 0.8 * all }' \
        "$SCRATCH/$1.csv"
}
check 'the loop of digit_sum is hot, interpreted' loop_is_hot plain
check 'the loop of digit_sum is hot, compiled' loop_is_hot native

calls_in_total()
{
    "$JSPROF_TOOL" annotate --csv "$SCRATCH/plain.cap" main >"$SCRATCH/main.csv" &&
        awk -F, '/"call / && $6 > 10 * ($5 + 1) { n++ } END { exit !n }' "$SCRATCH/main.csv"
}
check 'a call has the time of what it called' calls_in_total
finish
