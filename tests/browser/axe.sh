#!/bin/sh
# browser/axe.sh - the page for people who do not see it, or not as others do: what axe-core finds.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/browser/lib.sh"
need axe-core
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o known "$SRCDIR/tests/browser/captures.c"
for name in before after; do
    ./known $name >$name.cap
done
mkdir lib
for line in $(seq 61); do
    echo "line $line"
done >lib/parse.js
"$jsprof" html --sources --map "/srv/app/lib=$tmp/lib" before.cap -o before.html || bad=1
"$jsprof" html before.cap after.cap -o change.html || bad=1
drive axe.js "$tmp/before.html" "$tmp/change.html"
exit $bad
