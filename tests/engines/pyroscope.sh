#!/bin/sh
# engines/pyroscope.sh - Pyroscope's server takes what jsprof push sends to /ingest and to its
# PusherService. Its own API is asked: labels are those of the processes, and the shares of each and
# of all are those of jsprof merge. Killed and started again, it gets what waited.
#
# It is of PYROSCOPE, or build/engines/pyroscope, which nothing here builds.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
pyroscope=${PYROSCOPE:-$B/engines/pyroscope}
[ -x "$pyroscope" ] || { echo 'SKIP: needs a binary of Pyroscope: PYROSCOPE=FILE'; exit 77; }
needs_python
# shellcheck disable=SC2046
set -- $(ports 4)
port=$1 grpc=$2 members=$3 raft=$4

# Everything on the loopback, and no statistics to anybody.
more=
for option in compactor.ring.instance-addr distributor.ring.instance-addr \
    ingester.lifecycler.addr overrides-exporter.ring.instance-addr query-frontend.instance-addr \
    query-scheduler.ring.instance-addr segment-writer.lifecycler.addr \
    store-gateway.sharding-ring.instance-addr; do
    more="$more -$option=127.0.0.1"
done
more="$more -metastore.address=127.0.0.1:$grpc"
for option in raft.bind-address raft.advertise-address raft.server-id; do
    more="$more -metastore.$option=127.0.0.1:$raft"
done
# shellcheck disable=SC2086
engine()
{
    begin Pyroscope "http://127.0.0.1:$port/ready" "$pyroscope" -target=all \
        -usage-stats.enabled=false -self-profiling.disable-push=true \
        -log.level=warn -architecture.storage=v1 -write-path=ingester \
        -server.http-listen-address=127.0.0.1 -server.http-listen-port="$port" \
        -server.grpc-listen-address=127.0.0.1 -server.grpc-listen-port="$grpc" \
        -memberlist.bind-addr=127.0.0.1 -memberlist.bind-port="$members" \
        -memberlist.advertise-addr=127.0.0.1 \
        -storage.backend=filesystem -storage.filesystem.dir="$tmp/shared" \
        -pyroscopedb.data-path="$tmp/data" -metastore.data-dir="$tmp/meta" \
        -metastore.raft.dir="$tmp/raft" -metastore.raft.snapshots-dir="$tmp/raft" \
        -compactor.data-dir="$tmp/compactor" $more
}

touch err
engine
hosts=
for i in 1 2 3; do
    start "$B/bin/lark" --profile-control "$SRCDIR/examples/lark/programs/shares.lark" 100000
    hosts="$hosts $pid"
done
for i in $hosts; do
    "$jsprof" record --hz 100 --seconds 6 --quiet -o "$i.cap" "$i" 2>>err
done
run merge -o merged.cap ./*.cap
is_rc 0
"$jsprof" report --csv --by function merged.cap >merged.csv 2>err || wrong 'has no report'

pushed() # KIND: what was said of six windows
{
    is_sent "pushed.$1" 6
    ran="pyroscope.py via=$1"
    # shellcheck disable=SC2086
    PYTHONPATH=$SRCDIR/tests/engines python3 -B "$SRCDIR/tests/engines/pyroscope.py" \
        "http://127.0.0.1:$port" merged.csv "via=\"$1\",service_name=\"lark\"" $hosts >out 2>err ||
        { tail -n 20 engine.log >>err; wrong 'has other shares'; }
    cat out
}
push() # KIND
{
    "$jsprof" push --to "$1" "http://127.0.0.1:$port" --label via="$1" --queue "queue.$1" \
        --windows 6 --seconds 2 >"pushed.$1" 2>&1
}
push pusher || { cp pushed.pusher out; ran='jsprof push --to pusher'; wrong "status $?"; }
pushed pusher
push pyroscope &
push=$!
sleep 5
murder
sleep 2
engine
wait $push || { cp pushed.pyroscope out; ran='jsprof push --to pyroscope'; wrong "status $?"; }
pushed pyroscope
halt
exit $bad
