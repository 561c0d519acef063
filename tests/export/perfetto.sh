#!/bin/sh
# export/perfetto.sh - protoc decodes what convert writes by Perfetto's field numbers: the report's
# totals, tasks that nest, flows between them, states, marks and counters.
#
# SPDX-License-Identifier: MIT
command -v protoc >/dev/null || { echo 'SKIP: needs protobuf-compiler'; exit 77; }
. "$SRCDIR/tests/export/lib.sh"
. "$SRCDIR/tests/export/lib_perfetto.sh"
trace() # NAME: leaves out
{
    convert perfetto "$1" "$1.pftrace"
    ran="protoc on $1.pftrace"
    perfetto_lines "$1.pftrace" >out 2>err || wrong 'failed'
    hasnt 'bad '
}

reported every
trace every
row 'span gc 1015000000 1017000000 1 sweep'
row 'value heap 1030000000 400'
sed -n 's/^self //p' out | figures >got
same every.self got 'self in the trace'

trace hostile
sed -n 's/^self //p' out | awk '{ sum += $1 } END { exit sum != 140000000 }' ||
    wrong 'does not add up to 140 ms'

# Tasks: a timer's second run follows its first, and a promise the run that made it ready.
trace tasks
row 'span thread-100 1009000000 1016000000 1 turn'
row 'span thread-100 1010000000 1014000000 2 tick (app.js:10)'
row 'span thread-100 1030000000 1040000000 3 [unknown task]'
row 'span thread-200 1020000000 1030000000 1 load (app.js:20)'
row 'span thread-100 1012000000 1012000000 0 load (app.js:20) on'
grep '^flow' out | LC_ALL=C sort >got
cat >flows <<'END'
flow load (app.js:20) -> load (app.js:20)
flow load (app.js:20) -> show (app.js:30)
flow tick (app.js:10) -> load (app.js:20)
flow tick (app.js:10) -> tick (app.js:10)
flow tick (app.js:10) -> tick (app.js:10)
END
same flows got 'the flows'
# Of a part of the time: only runs that touch it, and flows between these.
run convert --to perfetto --time 9ms..11ms -o part.pftrace tasks.cap
is_rc 0
perfetto_lines part.pftrace >out
hasnt 'bad '
hasnt '1014500000'
row 'span thread-100 1010000000 1014000000 2 tick (app.js:10)'
hasnt flow

trace states
row 'span state'
has 'asleep'
has 'waiting for a processor'

# A real program: every run of a task is a span, and all but the two first timers have a cause.
"$B/bin/lark" --profile-output=loop.cap --profile-tasks --profile-hz=10000 \
    "$SRCDIR/examples/lark/programs/loop.lark" 100 >/dev/null
trace loop
runs=$("$jsprof" loop --csv loop.cap | sed 1d | awk -F , '{ n += $(NF - 12) } END { print n }')
[ "$(grep '^span thread' out | grep -vc -e ' turn$' -e ' on ')" = "$runs" ] ||
    wrong "has not $runs runs"
[ "$(grep -c '^flow' out)" -ge $((runs - 3)) ] || wrong "has not $((runs - 3)) flows"
exit $bad
