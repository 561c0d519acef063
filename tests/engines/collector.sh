#!/bin/sh
# engines/collector.sh - the OpenTelemetry collector, as `make deps-engines` builds it, takes the
# profiles of jsprof push: all requests, of all processes, with the shares that the program has by
# its own clock. After it was killed and started again, it gets what waited.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
collector=$B/engines/otelcol
[ -x "$collector" ] || { echo 'SKIP: needs make deps-engines'; exit 77; }
needs_python
port=$(ports 1)
touch err
begin_collector "127.0.0.1:$port"
for i in 1 2 3; do
    start "$B/bin/lark" --profile-control "$SRCDIR/examples/lark/programs/shares.lark" 100000
done
"$jsprof" push --to otlp "http://127.0.0.1:$port" --queue queue --windows 6 \
    --seconds 1 >pushed 2>&1 &
push=$!
sleep 2.5
murder
sleep 1
begin_collector "127.0.0.1:$port"
wait $push || { cp pushed out; ran='jsprof push'; wrong "status $?"; }
is_sent pushed 6
sleep 1.5 # the exporter writes once a second
halt
python3 -B "$SRCDIR/tests/engines/collector.py" profiles.json >out
ran='the collector'
# What it had taken and not written when it was killed is its loss; what it did not answer comes
# twice.
awk '$1 == "profiles" { exit !($2 >= 3 && $2 <= 9) }' out || wrong 'has not all requests'
[ "$(awk '/work/ { print $1 }' out | sort -u | wc -l)" = 3 ] || wrong 'has not three processes'
# 8 : 16 : 32, of each process and of all
awk '/work/ { all[$1] += $4; all["sum"] += $4; of[$1 " " $3] += $4; of["sum " $3] += $4 }
    function near(who, name, want,   share, may) {
        share = of[who " " name] / all[who]
        # chance, of 100 samples a second, and a tick that is not quite random
        may = 4.5 * sqrt(want * (1 - want) * 10000000 / all[who]) + 0.01
        if (share < want - may || share > want + may) { print who, name, share, want; bad = 1 }
    }
    END { for (who in all) {
            near(who, "leastwork", 8 / 57); near(who, "middlework", 16 / 57)
            near(who, "mostwork", 32 / 57) }
        exit bad }' out || wrong 'has other shares'
exit $bad
