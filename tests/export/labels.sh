#!/bin/sh
# export/labels.sh - labels and traces in other tools' formats: attributes and links in
# OpenTelemetry profiles, also of a trace that the program shares by the thread-local variable of
# the draft standard; and labels that go tool pprof shows.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"

if ! command -v python3 >/dev/null; then
    echo 'SKIP: needs python3'
    exit 77
fi
$CC -std=c11 -D_GNU_SOURCE -rdynamic -I"$SRCDIR/include" -o labels_host \
    "$SRCDIR/tests/export/labels_host.c" "$B/lib/libjsprof.a" -lpthread -ldl
./labels_host traced.cap || wrong 'the program failed'
run convert --to otlp -o traced.otlp traced.cap
is_rc 0
ran='otlp.py check traced.otlp'
python3 -B "$SRCDIR/tests/export/otlp.py" check traced.otlp >out 2>err ||
    wrong 'is not of the format'
for of in '/login link=a10f0000000000000000000000000000/0700000000000000' \
    '/shared link=c1000000000000000000000000000000/0900000000000000'; do
    grep "link=${of#* link=} " out | grep -q "route=${of% link=*}" || wrong "has no $of"
done
grep "route=/none" out >none || wrong 'has no /none'
grep -q link= none && wrong 'has a link without a trace'
has "label.thread.id=the host's own"
run convert --to pprof -o traced.pb.gz traced.cap
is_rc 0
if command -v go >/dev/null; then
    go tool pprof -tags traced.pb.gz >out 2>err || wrong 'go tool pprof fails'
    has '/login'
    has '/shared'
fi
exit $bad
