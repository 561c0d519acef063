#!/bin/sh
# browser/labels.sh - the labels of samples on the page: the values of each key have the figures of
# `jsprof report --by label:KEY`, and a choice of them those of `--label`; in a capture of known
# figures, and of a program whose tasks carry labels.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/browser/lib.sh"
[ -x "$B/bin/lark" ] || { echo 'SKIP: needs lark'; exit 77; }
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o known "$SRCDIR/tests/browser/captures.c"
./known labels >labels.cap
./known before >before.cap
# The rarer label, /short, has 450 samples at this rate; where the program is 5 times as fast, 90.
(cd "$SRCDIR/examples/lark/programs" &&
    "$B/bin/lark" --profile-output="$tmp/tasks.cap" --profile-hz=10000 --profile-tasks \
        labels.lark >/dev/null)
for name in labels before tasks; do
    "$jsprof" html $name.cap -o $name.html || bad=1
done
"$jsprof" html before.cap labels.cap -o change.html || bad=1
for key in route tenant; do
    "$jsprof" report --csv --limit 0 --by label:$key labels.cap >labels.$key.csv
done
"$jsprof" report --csv --limit 0 --by label:route tasks.cap >tasks.route.csv
"$jsprof" report --csv --limit 0 --label route=/b labels.cap >chosen.csv
grep -qE '"label(Keys|Sets|s)":' before.html && { echo 'a page without labels has keys'; bad=1; }
drive labels.js "$tmp"
driven
