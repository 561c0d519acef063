#!/bin/sh
# export/tasks.sh - tasks, and the task of each sample, are the same in either form of a capture,
# and a merged capture has those of all its parts.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"

has_tasks() # NAME TASKS RUNS TURNS
{
    run info $1.cap
    row " tasks $2 tasks, $3 runs, $4 turns of loops"
    row ' tasks 1 run of a task made before'
}

run convert --to compact -o compact.cap tasks.cap
is_rc 0
run convert --to syscap -o back.cap compact.cap
is_rc 0
run merge -o merged.cap tasks.cap tasks2.cap
is_rc 0
cp tasks.cap again.cap # of one process: its tasks get other numbers
run merge -o twice.cap tasks.cap again.cap
is_rc 0
for name in tasks compact back; do has_tasks $name 3 7 2; done
for name in merged twice; do has_tasks $name 6 14 4; done
# The file of the samples' tasks is the same after both ways.
for name in tasks back; do
    run dump --csv $name.cap
    has jsprof/running
done
# A mark for each run and each turn, for Sysprof; no second ones after another way, none compact.
marks() { "$jsprof" dump "$1" | grep -c 'jsprof tasks' || true; }
run convert --to syscap -o once.cap tasks.cap
run convert --to syscap -o more.cap once.cap
run convert --to compact -o less.cap once.cap
seen="$(marks once.cap) $(marks more.cap) $(marks less.cap) $(marks back.cap)"
[ "$seen" = '9 9 0 9' ] || { ran=convert; wrong "has marks: $seen"; }
run list once.cap
hasnt 'jsprof tasks'
exit $bad
