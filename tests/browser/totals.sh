#!/bin/sh
# browser/totals.sh - the page has the same figures as the report: of a real program with
# interpreted, compiled and native frames, under its switches and in a part of the time;
# and of captures with more branches or more moments than a page keeps, nothing is lost.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/browser/lib.sh"
[ -x "$B/bin/lark" ] || { echo 'SKIP: needs lark'; exit 77; }
# 39 % of its samples are below `escape`, 87 % below `inline`: of 120 samples none is in `escape`
# with a chance of e^-59. A machine on which they are fewer than 120 is 30 times as fast as ours.
"$B/bin/lark" --profile-output=lark.cap "$SRCDIR/examples/lark/programs/markdown.lark" \
    "$SRCDIR/docs/capture.md" 200 >/dev/null
# Until the sample in the middle: it is in that part, whenever the program had a processor. The page
# chooses whole spans.
"$jsprof" html lark.cap -o lark.html
span=$(grep -ao '"span":[0-9]*' lark.html | tr -dc 0-9)
half=$("$jsprof" dump lark.cap | awk -v span="$span" '/ SAMPLE / { at[n++] = $2 }
    END { printf "%.9f", (int(at[int(n / 2)] * 1e9 / span) + 1) * span / 1e9 }')
for options in '' --vm --native "--time 0s..${half}s" '--only escape' '--under inline' \
    '--hide ^(inline|span)' --collapse-recursion \
    '--native --by module' '--native --by file'; do
    "$jsprof" report $options --csv --limit 0 lark.cap >"report$options.csv"
done
for options in '' --vm; do
    "$jsprof" report $options --csv --limit 0 merged.cap >"bare$options.csv"
done
"$jsprof" html merged.cap -o bare.html
"$jsprof" html --only escape lark.cap -o only.html
"$jsprof" html --under inline lark.cap -o under.html
$CC -std=c11 -O2 -D_GNU_SOURCE -I"$SRCDIR/tests" -o gen "$SRCDIR/tests/bench/gen_capture.c"
./gen 30000 40 30000 >many.cap
"$jsprof" report --csv --limit 0 many.cap >many.csv
"$jsprof" html many.cap -o many.html
./gen 700000 8 300000 >long.cap
"$jsprof" html long.cap -o long.html
# The worst for the size of a page: each branch is another one.
./gen 1000000 30 20000 random >random.cap
"$jsprof" html random.cap -o random.html
size=$(wc -c <random.html)
[ "$size" -le 3000000 ] || { echo "a page of random stacks has $size bytes"; bad=1; }
drive totals.js "$tmp" "$half"
driven
