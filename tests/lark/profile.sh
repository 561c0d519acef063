#!/bin/sh
# lark/profile.sh - what a capture of a Lark program says is what the program did:
# shares as its own clock counted them, C between two Lark functions in its place.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# Total share of each function beside the program's own "share NAME PERCENT": within
# four standard errors of chance, for so many samples, and half a point for the clock's
# own cost.
shares_agree() # CAPTURE OUTPUT
{
    "$JSPROF_TOOL" report --csv --limit 0 "$1" >"$SCRATCH/report.csv" || return 1
    awk -F '[ ,]' '
        FNR == NR && /^share / { own[$2] = $3 / 100; next }
        FNR == NR { next }
        { gsub(/"/, ""); name = $1; time[name] = $(NF - 2); n[name] = $NF }
        END {
            all = time["main"]
            if (all <= 0) { print "no main in the report"; exit 1 }
            for (name in own) {
                share = time[name] / all
                error = sqrt(own[name] * (1 - own[name]) / n["main"])
                off = share - own[name]
                line = sprintf("%s: %.4f, the program says %.4f +- %.4f (%d samples)",
                               name, share, own[name], error, n["main"])
                print line
                if (off > 4 * error + 0.005 || off < -4 * error - 0.005) bad = 1
                seen++
            }
            exit bad || seen != 4
        }' "$2" "$SCRATCH/report.csv"
}

profile_shares() # CLOCK
{
    "$LARK" --profile-output="$SCRATCH/$1.cap" --profile-clock="$1" \
        "$PROGRAMS/shares.lark" 1.5 >"$SCRATCH/$1.txt" &&
        shares_agree "$SCRATCH/$1.cap" "$SCRATCH/$1.txt"
}

check 'shares are what the program counts (cpu clock)' profile_shares cpu
cat "$SCRATCH/check.out"
check 'every expiration is accounted for' sh -c \
    "'$JSPROF_TOOL' info '$SCRATCH/cpu.cap' | grep -q ': adds up, and the file holds them all'"

"$LARK" --profile-output="$SCRATCH/sort.cap" "$PROGRAMS/quicksort.lark" 100000 >/dev/null
"$JSPROF_TOOL" tree --min 1 "$SCRATCH/sort.cap" | sed 's/.*%  *//; s/^[^a-z(]*//' \
    >"$SCRATCH/tree.txt"

# The lines of the tree below its `sort` (the builtin), one below the other.
in_order()
{
    awk '/^sort$/ { sort = NR } /^by_digits / && sort == NR - 1 { by = NR }
         /^digit_sum / && by == NR - 1 { found = 1 }
         END { exit !found }' "$SCRATCH/tree.txt" || { cat "$SCRATCH/tree.txt"; return 1; }
}
check 'Lark, C, Lark: main, sort, by_digits, digit_sum' in_order

# Whole stacks: never a callback of sort without sort, nor sort without main.
stacks_whole()
{
    "$JSPROF_TOOL" tree --inverted --min 0 "$SCRATCH/sort.cap" >"$SCRATCH/inverted.txt" 2>&1
    grep -q 'by_digits' "$SCRATCH/inverted.txt" && ! grep -q 'no VM frame' "$SCRATCH/tree.txt"
}
check 'no stack without its VM frames' stacks_whole

lines_known()
{
    "$JSPROF_TOOL" report --limit 0 "$SCRATCH/sort.cap" | grep 'digit_sum' | grep -Eq ':4[234] '
}
check "the hottest line of digit_sum is one of its loop's" lines_known

check 'JSPROF in the environment records' sh -c \
    "JSPROF='$SCRATCH/env.cap' '$LARK' '$PROGRAMS/fib.lark' 27 >/dev/null &&
     '$JSPROF_TOOL' report '$SCRATCH/env.cap' | grep -q 'fib (.*fib.lark:5)'"

# An error ends the program, not the capture.
printf 'fn spin(n) { for i = 0, n { i; } error("end"); }\nspin(3000000);\n' \
    >"$SCRATCH/fails.lark"
fails_recorded()
{
    "$LARK" --profile-output="$SCRATCH/fails.cap" "$SCRATCH/fails.lark" && return 1
    "$JSPROF_TOOL" report "$SCRATCH/fails.cap" | grep -q 'spin ('
}
check 'a program that fails has a whole capture' fails_recorded
finish
