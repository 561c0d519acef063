#!/bin/sh
# read/beside.sh - the reading library has the values of counters, runs of tasks and turns of loops,
# for which the command does not ask. All else it asks of it: tests/cli says what is right.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
$CC -std=c11 -Wall -Wextra ${WERROR:-} -I"$SRCDIR/include" -o beside \
    "$SRCDIR/tests/read/beside.c" -L"$B/lib" -ljsprof-read -Wl,-rpath,"$B/lib"
for capture in events tasks good; do
    ./beside $capture.cap
done >ours
diff - ours <<'END' || bad=1
gc/heap: 5 of 5 values, 6994
app/load: 2 of 2 values, 1
run of 0 on 100 at 10000000 for 4000000, inner 0, depth 0
run of 1 on 100 at 14500000 for 1000000, inner 0, depth 0
run of 0 on 100 at 20000000 for 2000000, inner 0, depth 0
run of 2 on 100 at 23000000 for 25000000, inner 10000000, depth 0
run of -1 on 100 at 30000000 for 10000000, inner 0, depth 1
run of 0 on 100 at 60000000 for 5000000, inner 0, depth 0
run of 1 on 200 at 20000000 for 10000000, inner 0, depth 0
turn on 100 at 9000000 for 7000000, inner 0
turn on 100 at 20000000 for 30000000, inner 0
END
exit $bad
