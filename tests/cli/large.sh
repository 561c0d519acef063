#!/bin/sh
# cli/large.sh - half a million distinct stacks, or edges, stay as many: nothing is taken for
# something else because their hashes are equal. The page keeps the largest branches and the
# longest marks, and of a counter with many values the least and the largest.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

$CC -std=c11 -D_GNU_SOURCE -O1 -I"$SRCDIR/tests" -o large "$SRCDIR/tests/cli/large.c"
./large stacks 700 >stacks.cap
./large edges 700 >edges.cap

run info stacks.cap
has '490,700, 490,000 different stacks'
run report --csv --limit 0 stacks.cap
lines 701
[ "$(grep -c ',vm,701,1400,701,1400$' out)" = 700 ] || wrong 'a function has other sums'
run convert --to folded stacks.cap
lines 490000
[ "$(grep -c ' 2$' out)" = 700 ] || wrong 'not one stack of each function has two samples'

run calls --edges --csv --limit 0 edges.cap
lines 490001
[ "$(grep -c ',2,0,0$' out)" = 700 ] || wrong 'not one edge of each function has two calls'
[ "$(cut -d , -f 1,2 out | sort | uniq -d | wc -l)" = 0 ] || wrong 'an edge is there twice'

# Of many rows the first ones are the same, however few are asked for.
run calls --edges --csv --limit 0 --sort name edges.cap
head -n 8 out >first
run calls --edges --csv --limit 7 --sort name edges.cap
cmp -s first out || wrong 'shows other edges than the first seven of all'
run calls --csv --limit 0 edges.cap
head -n 4 out >first
run calls --csv --limit 3 edges.cap
head -n 4 out | cmp -s first - || wrong 'shows other functions than the first three of all'

run html stacks.cap -o page.html
cp page.html out
has '"least":2,'
has '"nodes":2101,'
has '[smaller branches]'

# Fewer branches than a page has room for: all are kept, those of one sample, too.
./large stacks 500 >fewer.cap
run html fewer.cap -o page.html
cp page.html out
has '"least":0,'
has '"nodes":250501,'

# A name that many functions have shows the first few, and counts the others.
run annotate stacks.cap f
is_rc 1
cp err out
lines 10
has '700 functions match "f":'
has '  f1'
has '  and 692 more'

./large events 6000 >events.cap
run html events.cap -o page.html
tr '[' '\n' <page.html | sed -n '/"list":$/,/"left":/p' >out
lines 5002
has '"left":1000'
# Of 1 to 6,000 us the 5,000 longest ones.
sed -n '3,$p' out | tr -d '"]' | cut -d , -f 3 >lengths
sort -n lengths | sed -n '1p;$p' | tr '\n' ' ' >out
has '1001 6000 '
grep -o '"points":[^]]*' page.html | tr '[' ',' | cut -d , -f 2- | tr ',' '\n' |
    awk 'NR % 2 == 0' >values
n=$(wc -l <values)
[ "$n" -ge 1000 ] && [ "$n" -le 2000 ] || wrong "the page has $n of 6,000 values"
sort -n values | sed -n '1p;$p' | tr '\n' ' ' >out
has '1 60000 '

# A page of a million runs has all of them in 10 MB; how fast it draws them is in browser/spans.js.
# shellcheck disable=SC2086
$CC -std=c11 -D_GNU_SOURCE -O1 -I"$SRCDIR/include" -o spans "$SRCDIR/tests/cli/spans.c" \
    "$B/lib/libjsprof.a" -pthread ${LDFLAGS:-}
./spans spans.cap
run loop --csv --by kind spans.cap
runs=$(awk -F , 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "runs") at = i }
    NR > 1 { n += $at } END { print n + 0 }' out)
lost=$("$jsprof" info spans.cap | sed -n 's/^ *tasks *\([0-9,]*\) records lost.*/\1/p' | tr -d ,)
[ $((runs + ${lost:-0})) -ge 1000000 ] && [ "$runs" -ge 900000 ] ||
    wrong "has $runs runs, lost $lost"
run html spans.cap -o page.html
bytes=$(wc -c <page.html)
[ "$bytes" -le 10000000 ] || wrong "a page of $runs runs has $bytes bytes"
exit $bad
