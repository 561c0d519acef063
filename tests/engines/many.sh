#!/bin/sh
# engines/many.sh - 50 machines (see lib-many.sh) feed an OpenTelemetry collector, which is killed
# meanwhile and started again. Of windows, each host and all have the shares of `jsprof merge`. Of
# captures that continuous mode has written, the collector has the same nanoseconds.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib-many.sh"
kind=otlp address=$bridge:4318
collector=$B/engines/otelcol
[ -x "$collector" ] || { echo 'SKIP: needs make deps-engines'; exit 77; }
needs_python
needs_namespaces
engine() { begin_collector $address; }
has_of() # VIA
{
    file=profiles.json
    [ ! -e "$1.json" ] || file=$1.json
    python3 -B "$SRCDIR/tests/engines/collector.py" $file
}

touch err
engine
begin_machines
push_live
sleep 1.5 # the exporter writes once a second
halt
mv profiles.json live.json
end_machines
engine
push_stored
halt
has_of live >live.table
has_of stored >stored.table
is_within live $((live - hosts)) $live
is_within stored $sent $sent
compared chance live
compared equal stored
for via in live stored; do
    cp $via.table out
    grep -q '^label route=/shares [1-9]' out || wrong 'has no label'
done
exit $bad
