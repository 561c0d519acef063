#!/bin/sh
# cli/views.sh - what info, report, tree and dump print of a known capture.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

main='main (/srv/app/start.js:1:1)'
work='work (/srv/app/lib/deep/inside/work.js:20:3)'

run info good.cap
cp out little
run info big.cap
sed 's/little/big/; s/good/big/' little | cmp -s - out || wrong 'differs by byte order'
run info killed.cap
is_rc 0
has 'killed or still running; complete up to 0.02 s'
run info nameless.cap
is_rc 0
row 'names 3 frames without a name, the table was full, 1 name cut, 1,234 C addresses without'
run info foreign.cap good.cap
is_rc 0
has 'another program'
has 'foreign.cap'
has 'good.cap'
hasnt 'does not add up'

run report --limit 1 good.cap
has '2 more functions have 37.5% of self (--limit 0 shows them)'
run report --limit 2 good.cap
has '1 more function has 12.5% of self (--limit 0 shows it)'
run report --sort name good.cap
[ "$(grep -n 'leaf, ' out | cut -d: -f1)" -lt "$(grep -n 'main (' out | cut -d: -f1)" ] ||
    wrong 'is not sorted by name'
run report --sort=total good.cap
[ "$(grep -n 'main (' out | cut -d: -f1)" -lt "$(grep -n 'work (' out | cut -d: -f1)" ] ||
    wrong 'is not sorted by total'
for thread in 200 'helper two'; do
    run report --thread "$thread" good.cap
    row '100.0% 0.0 20 ms 2 100.0% 20 ms'
    hasnt 'leaf'
    has 'thread 200 helper two'
done
run report --csv good.cap
lines 4
cp out csv
run report --csv - <good.cap
cmp -s out csv || wrong 'differs by a redirected standard input'
cat good.cap | "$jsprof" report --csv - | cmp -s - csv || wrong 'differs by a pipe'

run report foreign.cap
row '50.0% 35.4 1 50.0% 1 ████████ kernel [kernel]'
row '1 100.0% 2 ████████░░░░░░░░ native [libfoo.so.1]'
row '100.0% 2 ░░░░░░░░░░░░░░░░ native [other]'

# A report has no times that nobody measured.
run report passedon.cap
has '2 samples in '
has '1000 Hz asked for'
hasnt 'ms of CPU time'
row '100.0% 0.0 2 100.0% 2 ████████████████ native [other]'
has '100% is 2 samples; the capture does not record how long each counts.'

run tree --min 50 good.cap
hasnt 'leaf'
run tree --depth 1 good.cap
hasnt 'work'
run tree --bottom-up good.cap
row "62.5% 50 ms 62.5% $work"
row "62.5% 50 ms $main"
cp out up
run tree --inverted good.cap
cmp -s out up || wrong 'is not what --bottom-up prints'
LC_ALL=C run tree good.cap
row '62.5% 50 ms 62.5% |- work'
row '12.5% 10 ms 12.5% `- leaf'

run diff good.cap good.cap
is_rc 0
row '3 more functions (--limit 0 shows them)'
hasnt '+0.0'

# A function and its capture, in whatever order.
for command in callers annotate; do
    run $command work good.cap
    is_rc 0
    cp out first
    run $command good.cap work
    cmp -s out first || wrong 'depends on the order of its words'
done

run dump --csv defects.cap # a frame that can not be read is a row, too
has '1544,18000000,100,SAMPLE,,,,"","",0'

run --version
has "jsprof $(sed -n 's/.*VERSION_STRING "\(.*\)"/\1/p' "$SRCDIR/include/jsprof.h")"
run --help
cp out help
for command in info threads list report tree callers callees diff merge dump; do
    grep -q "^  $command " help || wrong "does not name $command"
    run $command --help
    is_rc 0
    has "usage: jsprof $command"
    [ "$(wc -l <out)" -le 24 ] || wrong 'is longer than a screen'
    cp out by_option
    run help $command
    cmp -s out by_option || wrong 'differs from --help'
done
exit $bad
