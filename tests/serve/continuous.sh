#!/bin/sh
# serve/continuous.sh - a process that records itself always is recorded by a command, too: its own
# recording pauses and goes on, and nothing is in both. A second command gets a no meanwhile.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
spin_lark 'label("route", "/login"); spin(100000);'

# kept: the expirations that are in the files of the folder.
kept()
{
    for f in folder/*.cap; do
        "$jsprof" info --csv "$f" 2>/dev/null || continue
    done | awk -F, '/all_kept/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { n += $at["all_kept"] } END { print n + 0 }'
}

# grows FROM: wait until there is more.
grows()
{
    tries=0
    until [ "$(kept)" -gt "$1" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { ran=grows; wrong "no more than $1 in the folder"; return; }
        sleep 0.2
    done
}

JSPROF_CONTROL=1 JSPROF_CONTINUOUS=folder JSPROF_SEGMENT=1s JSPROF_HZ=100
export JSPROF_CONTROL JSPROF_CONTINUOUS JSPROF_SEGMENT JSPROF_HZ
start "$B/bin/lark" spin.lark
unset JSPROF_CONTROL JSPROF_CONTINUOUS JSPROF_SEGMENT JSPROF_HZ
grows 0

# One command records, another one gets a no; the folder gets nothing then.
"$jsprof" record --quiet --seconds 0 -o one.cap $pid 2>one.err &
one=$!
pids="$pids $one"
tries=0
until "$jsprof" ps --csv | grep -q "^$pid,[0-9]*,recording,"; do
    tries=$((tries + 1))
    [ $tries -lt 300 ] || { cat one.err; echo 'the first one does not record'; exit 1; }
    sleep 0.1
done
run record --seconds 0.1 -o two.cap $pid
is_rc 1
[ "$(wc -l <err)" = 1 ] || wrong 'more than one line'
says "process $pid"
[ ! -e two.cap ] || wrong 'leaves a file'
before=$(kept)
sleep 2.5
ran='the folder'
[ "$(kept)" = "$before" ] || wrong 'grows while a command records'
kill -INT $one
wait $one || { cat one.err; echo 'the first one fails'; bad=1; }
is_whole one.cap
run report one.cap
has 'spin (spin.lark:1)'

# Then it goes on, by itself, and another command can record.
grows "$before"
run record --seconds 0.5 -o three.cap $pid
is_rc 0
is_whole three.cap
before=$(kept)
grows "$before"
stop $pid
for f in folder/*.cap; do
    run info "$f"
    is_rc 0
    has 'folded in segments of 1 s'
done
run report --by label folder/*.cap
is_rc 0
has 'route=/login'

# A command that is killed leaves the process recording itself.
JSPROF_CONTROL=1 JSPROF_CONTINUOUS=other JSPROF_SEGMENT=1s JSPROF_HZ=100 start \
    "$B/bin/lark" spin.lark
rm -rf folder
ln -s other folder
grows 0
"$jsprof" record --quiet --seconds 0 -o killed.cap $pid &
one=$!
until [ -s killed.cap ]; do sleep 0.1; done
kill -KILL $one
wait $one 2>/dev/null || :
grows "$(kept)"
exit $bad
