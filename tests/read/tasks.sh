#!/bin/sh
# read/tasks.sh - the reading library gives the tasks, runs and turns that a made capture has, with
# the stacks on which tasks were made; their groups, stalls and chains; of a capture without tasks,
# none.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
$CC -std=c11 -Wall -Wextra ${WERROR:-} -I"$SRCDIR/include" -o show "$SRCDIR/tests/read/show.c" \
    -L"$B/lib" -ljsprof-read -Wl,-rpath,"$B/lib"
work='work (/srv/app/lib/deep/inside/work.js:20:3)' main='main (/srv/app/start.js:1:1)'
cat >wanted <<EOF
3 tasks, 7 runs, 2 turns, unknown 1, before 1, repeated 0, crossing 0
task 5 timeout tick (app.js:10) of 100 at 1000000, runs 3 < $main
task 6 promise load (app.js:20) of 100 at 12000000, runs 2, parent 0 < $work < $main
task 7 promise show (app.js:30) of 100 at 15000000, runs 1, parent 1 < $work < $main
run 0 of 0 on 100 at 10000000 for 4000000, inner 0, delay 1000000, depth 0
run 1 of 1 on 100 at 14500000 for 1000000, inner 0, delay 1500000, depth 0
run 2 of 0 on 100 at 20000000 for 2000000, inner 0, delay 1000000, depth 0
run 3 of 2 on 100 at 23000000 for 25000000, inner 10000000, delay 8000000, depth 0
run 4 of -1 on 100 at 30000000 for 10000000, inner 0, delay -1, depth 1
run 5 of 0 on 100 at 60000000 for 5000000, inner 0, delay 0, depth 0, open
run 6 of 1 on 200 at 20000000 for 10000000, inner 0, delay -1, depth 0
turn on 100 at 9000000 for 7000000, inner 0
turn on 100 at 20000000 for 30000000, inner 0
EOF
./show tasks tasks.cap >ours
diff wanted ours || bad=1
# The same in groups, in stalls, in chains, and beside another capture.
$CC -std=c11 -Wall -Wextra ${WERROR:-} -I"$SRCDIR/include" -o loops "$SRCDIR/tests/read/loops.c" \
    -L"$B/lib" -ljsprof-read -Wl,-rpath,"$B/lib"
cat >wanted <<EOF
7 runs of 3 tasks, 2 turns, the longest of 30000000
timeout tick (app.js:10): 3 runs of 11000000, self 11000000, max 5000000, open 1, delays 3
promise load (app.js:20): 2 runs of 11000000, self 11000000, max 10000000, open 0, delays 1
unknown : 1 runs of 10000000, self 10000000, max 10000000, open 0, delays 0
promise show (app.js:30): 1 runs of 25000000, self 15000000, max 25000000, open 0, delays 1
2 stalls in 2 turns
stall at 20000000 for 30000000 on 100, unknown in show (app.js:30)
stall at 9000000 for 7000000 on 100, function in tick (app.js:10)
-22: over wants a time as in 50ms, not "soon"
chain of 1 tasks, 1 runs of 25000000, delay 8000000
  promise show (app.js:30) < $work < $main
  promise load (app.js:20) < $work < $main
  timeout tick (app.js:10) < $main
chain of 1 tasks, 2 runs of 11000000, delay 1500000
  promise load (app.js:20) < $work < $main
  timeout tick (app.js:10) < $main
-2: no task and no function or mark in a task "nobody"
different at 2 of 7 and 7
EOF
./loops promise tasks.cap tasks2.cap >ours
diff wanted ours || bad=1

# Stacks that differ only in a line are one, and what made the tasks ready is there.
cat >wanted <<EOF
chain of 2 tasks, 2 runs of 2000000, delay 9000000
  2 ready by promise show (app.js:30)
  promise load (app.js:20) < $work < $main
  timeout tick (app.js:10) < $main
chain of 1 tasks, 2 runs of 2000000, delay 10000000
  1 ready by timeout other (app.js:40)
  promise load (app.js:20) < [host] < $work < $main
  timeout tick (app.js:10) < $main
EOF
./loops load causes.cap | sed -n '/^chain/,/^-2/p' | sed '/^-2/d' | diff wanted - || bad=1
[ "$(./loops x good.cap | grep -c '^-61: no tasks')" = 3 ] ||
    { echo 'tasks where none are'; bad=1; }

./show tasks good.cap >ours
echo '0 tasks, 0 runs, 0 turns, unknown 0, before 0, repeated 0, crossing 0' | diff - ours || bad=1
exit $bad
