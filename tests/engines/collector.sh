#!/bin/sh
# engines/collector.sh - the OpenTelemetry collector, as `make deps-engines` builds it, takes the
# profiles of jsprof push: all requests, of all processes, with the shares that the program has by
# its own clock. After it was killed and started again, it gets what waited.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
collector=$B/engines/otelcol
[ -x "$collector" ] || { echo 'SKIP: needs make deps-engines'; exit 77; }
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
cat >collector.yaml <<END_OF_CONFIGURATION
receivers: {otlp: {protocols: {http: {endpoint: "127.0.0.1:$port"}}}}
exporters: {file: {path: $tmp/profiles.json, append: true}}
service:
  pipelines: {profiles: {receivers: [otlp], exporters: [file]}}
  telemetry: {metrics: {level: none}}
END_OF_CONFIGURATION

engine()
{
    "$collector" --config "file:$tmp/collector.yaml" \
        --feature-gates=service.profilesSupport >>engine.log 2>&1 &
    engine=$!
    pids="$pids $engine"
    tries=0
    until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { cat engine.log; exit 1; }
        sleep 0.1
    done
}

touch err
engine
for i in 1 2 3; do
    start "$B/bin/lark" --profile-control "$SRCDIR/examples/lark/programs/shares.lark" 100000
done
"$jsprof" push --to otlp "http://127.0.0.1:$port" --queue queue --windows 6 \
    --seconds 1 >pushed 2>&1 &
push=$!
sleep 2.5
kill -KILL $engine
wait $engine 2>/dev/null || :
sleep 1
engine
wait $push || { cp pushed out; ran='jsprof push'; wrong "status $?"; }
sleep 1.5 # the exporter writes once a second
kill $engine
wait $engine || :
python3 -B "$SRCDIR/tests/engines/collector.py" profiles.json >out
ran='the collector'
grep -Eq '6 windows, .* [1-6] sent, 0 refused, 0 dropped, 0 wait' pushed ||
    { cp pushed out; wrong 'not all was sent'; }
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
