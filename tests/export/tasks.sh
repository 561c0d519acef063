#!/bin/sh
# export/tasks.sh - tasks, and the task of each sample, are the same in either form of a capture,
# and a merged capture has those of all its parts.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"
lark=$B/bin/lark program=$SRCDIR/examples/lark/programs/loop.lark
options='--profile-tasks --profile-hz=10000 --profile-clock=wall'
"$lark" --profile-output=a.cap $options "$program" 20 >/dev/null
"$lark" --profile-output=b.cap $options "$program" 7 >/dev/null

tasks() # CAPTURE: "tasks runs turns"
{
    "$jsprof" info "$1" |
        sed -n 's/^ *tasks *\([0-9]*\) tasks, \([0-9]*\) runs, \([0-9]*\) turns.*/\1 \2 \3/p'
}

whole() # NAME: info finds nothing wrong with its tasks
{
    "$jsprof" info "$1" >info.txt
    [ "$(grep -c '^ *tasks ' info.txt)" = 1 ] || { cat info.txt; ran=$1; wrong 'has wrong tasks'; }
}

run convert --to compact -o compact.cap a.cap
is_rc 0
run convert --to syscap -o back.cap compact.cap
is_rc 0
run merge -o merged.cap a.cap b.cap
is_rc 0
cp a.cap again.cap # of one process: its tasks get other numbers
run merge -o twice.cap a.cap again.cap
is_rc 0
: >out
: >err
for name in a b compact back merged twice; do whole $name.cap; done
[ -n "$(tasks a.cap)" ] && [ "$(tasks compact.cap)" = "$(tasks a.cap)" ] &&
    [ "$(tasks back.cap)" = "$(tasks a.cap)" ] || { ran=convert; wrong 'changed the tasks'; }
sum=$({ tasks a.cap; tasks b.cap; } | awk '{ a += $1; b += $2; c += $3 } END { print a, b, c }')
[ "$(tasks merged.cap)" = "$sum" ] || { ran=merge; wrong "has not $sum"; }
# Not its runs: where one ends in the nanosecond in which the next begins, those of the other copy
# come between them.
twice=$(tasks a.cap | awk '{ print 2 * $1 }')
[ "$(tasks twice.cap | cut -d ' ' -f 1)" = "$twice" ] ||
    { ran='merge a.cap'; wrong "has not $twice tasks"; }
# The file of the samples' tasks is the same after both ways.
for name in a back; do
    "$jsprof" dump --csv $name.cap | grep -c jsprof/running >$name.running || true
done
[ "$(cat a.running)" -gt 0 ] && [ "$(cat back.running)" -gt 0 ] ||
    { ran=convert; wrong 'lost the tasks of samples'; }
# A mark for each run and each turn, for Sysprof; no second ones after another way, none compact.
marks() { "$jsprof" dump "$1" | grep -c 'jsprof tasks' || true; }
run convert --to syscap -o once.cap a.cap
run convert --to syscap -o more.cap once.cap
run convert --to compact -o less.cap once.cap
want=$(tasks a.cap | awk '{ print $2 + $3 }')
seen="$(marks once.cap) $(marks more.cap) $(marks less.cap) $(marks back.cap)"
[ "$seen" = "$want $want 0 $want" ] || { ran=convert; wrong "has marks: $seen, not $want"; }
"$jsprof" list once.cap >list
! grep 'jsprof tasks' list || { ran=list; wrong 'shows them'; }
exit $bad
