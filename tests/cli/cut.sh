#!/bin/sh
# cli/cut.sh - a capture without the end of its recording is not shown as a whole one: each
# command says so in one line, with the same status as otherwise. Seen failing for a capture that
# is cut between two records, and for one whose host was killed.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

no_end='the recording has no end: its host was killed or still records, or '\
'the file was cut; what follows is what the file has'

# The ends of ten records of a capture, in little-endian order, spread over all after the first.
boundaries() # FILE
{
    od -An -v -tu1 -w1 "$1" | awk '{ byte[NR - 1] = $1 }
        END {
            for (at = 256; at + 24 <= NR && byte[at] + 256 * byte[at + 1] >= 24; n++) {
                at += byte[at] + 256 * byte[at + 1]
                end[n] = at
            }
            for (i = 1; i <= 10; i++)
                print end[int((n - 2) * i / 10)]
        }' | uniq
}

# Each command once; CHECK gets the name of the file.
asks() # FILE CHECK
{
    for words in 'report @' 'report --csv @' 'report --by category @' 'report --by task @' \
        'report --markdown @' 'tree @' 'callers work @' 'callees work @' 'threads @' 'list @' \
        'annotate @ work' 'dump @' 'loop @' 'stalls --over 1us @' 'causes @ promise' 'calls @' \
        'calls --json @' 'diff @ good.cap' 'diff good.cap @' 'calls @ calls.cap' \
        'merge @ -o made.cap' 'merge good.cap @ -o made.cap' 'html @ -o made.html' \
        'convert --to folded @' 'convert --to csv @' 'convert --to json @' \
        'convert --to pprof -o made.pb @' 'convert --to compact -o made.cap @' \
        'report @ good.cap' 'report good.cap @'; do
        # shellcheck disable=SC2046
        run $(echo "$words" | sed "s|@|$1|")
        $2 "$1"
    done
}

is_said() # FILE
{
    ! grep -q 'can not be merged' err || return 0 # nothing is shown
    grep -qxF "jsprof: $1: $no_end" err || wrong "does not say of which capture"
    lacks_end
    # What is missing may be what was lost.
    ! grep '^Lost: [0-9]' out || wrong 'says what was lost as if it was known'
}

is_quiet()
{
    ! grep -q 'has no end' err out || wrong 'says that a whole capture has no end'
}

asks good.cap is_quiet
asks tasks.cap is_quiet
asks calls.cap is_quiet

n=0
for name in good tasks calls; do
    for at in $(boundaries $name.cap); do
        head -c "$at" $name.cap >cut.cap
        n=$((n + 1))
        # All commands of some cuts, one of each.
        if [ $((n % 4)) = 1 ]; then
            asks cut.cap is_said
        else
            run report cut.cap
            is_said cut.cap
        fi
    done
done
[ $n -ge 20 ] || { echo "only $n cuts"; bad=1; }

# A host that was killed left as much; a joined capture knows it of its parts.
asks killed.cap is_said
run merge killed.cap good.cap -o made.cap
run report made.cap
is_said made.cap
run html killed.cap -o made.html
grep -q '"lacksEnd":true' made.html || wrong 'the page does not know it'
run html good.cap -o made.html
! grep -q '"lacksEnd":true' made.html || wrong 'the page of a whole capture says it'

# `jsprof info` says what is wrong in one line, wherever a file is cut: of its frame, or in what it
# prints of the recording. Also where only the last record is missing.
cut_everywhere() # FILE
{
    size=$(wc -c <"$1") n=0
    for at in $(awk "BEGIN { for (at = 0; at < $size; at += 64) print at }") \
        $(boundaries "$1" | tail -n 1); do
        head -c $at "$1" >cut.cap
        run info cut.cap
        [ $rc -le 1 ] || wrong "$1 at $at: exit status $rc"
        [ "$(wc -l <err)" -le 1 ] || wrong "$1 at $at: more than one line"
        cat err out | grep -qE 'empty file|cut inside the file header|cut by the end of the file '\
'\(at byte [0-9]+\)$|killed or still running|nothing of it is in the file after' ||
            wrong "$1 at $at: does not say that it is cut"
        n=$((n + 1))
    done
    echo "$1: $n cuts of $size bytes"
}
cut_everywhere good.cap
cut_everywhere calls.cap
if [ -x "$B/bin/lark" ]; then
    cat >work.lark <<'END_OF_PROGRAM'
fn work(n) { let i = 0; while i < n { i = i + 1; } return i; }
label("route", "/a");
let k = 0;
while k < 40 { work(1000000); k = k + 1; }
END_OF_PROGRAM
    JSPROF=plain.cap JSPROF_HZ=200 "$B/bin/lark" work.lark
    JSPROF=compact.cap JSPROF_HZ=200 JSPROF_COMPACT=1 "$B/bin/lark" work.lark
    JSPROF_CONTINUOUS=folder JSPROF_SEGMENT=1s "$B/bin/lark" work.lark
    mv folder/*.cap folded.cap
    for name in plain compact folded; do
        run info $name.cap
        is_rc 0
        grep -qF 'the file holds them all' out || wrong 'is not whole'
        cut_everywhere $name.cap
    done
fi

# What is cut inside a record has its own line, and only that; so does `jsprof calls`.
for command in report calls; do
    head -c $(($(boundaries calls.cap | tail -n 1) - 3)) calls.cap >cut.cap
    run $command cut.cap
    [ "$(grep -c 'cut by the end of the file' err)" = 1 ] || wrong 'does not say that it is cut'
    is_quiet
done
exit $bad
