# lib-allocations.sh - what tests of sampled allocations share; sourced, not run, after
# lib-capture.sh.
#
# SPDX-License-Identifier: MIT

bytes() # MEASURE: lines of function and bytes of its own, and "all" with their sum
{
    "$JSPROF_TOOL" report --measure "$1" --json "$SCRATCH/cap" | tr '{' '\n' |
        sed -n 's/.*"function":"\([^"]*\)".*"self":\([0-9]*\).*/\1\t\2/p' |
        awk -F '\t' '{ split($1, name, " "); n[name[1]] += $2; all += $2 }
            END { for (f in n) print f, n[f]; print "all", all }'
}

# Is the value within five standard deviations? A sample represents 16384 bytes, or little more.
near() # VALUE WANTED
{
    echo "$1, wanted $2"
    awk -v got="$1" -v want="$2" 'BEGIN {
        d = got - want; exit !(want > 0 && d * d < 25 * want * 17000) }'
}

value() # FUNCTION
{
    awk -v f="$1" '$1 == f { v = $2 } END { print v + 0 }' "$SCRATCH/bytes"
}
