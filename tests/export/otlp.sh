#!/bin/sh
# export/otlp.sh - what convert writes as OpenTelemetry profiles has the fields of the protocol, the
# report's totals, a resource for each process, and the states of samples.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"

if ! command -v python3 >/dev/null; then
    echo 'SKIP: needs python3'
    exit 77
fi

otlp() # WHAT FILE: leaves out
{
    ran="otlp.py $*"
    python3 -B "$SRCDIR/tests/export/otlp.py" "$@" >out 2>err || wrong 'is not of the format'
}

reported every
convert otlp every every.otlp
otlp self every.otlp
figures <out >got
same every.self got 'otlp, nanoseconds'
otlp check every.otlp
has 'profile of'
has ': samples/count, period 10000000 cpu/nanoseconds'
has ': cpu/nanoseconds, period 10000000 cpu/nanoseconds'
row '30000000 cpu/nanoseconds jit work (/srv/lib.js:20:3) thread.id=100 thread.name=main'
row '6 samples/count jit work (/srv/lib.js:20:3) thread.id=100 thread.name=main'
awk '$2 == "samples/count" { n += $1 } END { print n }' out >got
convert csv every every.csv
head -1 every.csv | tr ',' '\n' | grep -nx expirations | cut -d: -f1 >column
sed 's/"[^"]*"/x/g' every.csv |
    awk -F, -v at="$(cat column)" 'NR > 1 { n += $at } END { print n }' >want
same want got 'otlp, expirations'

# By the ending; names that are no UTF-8; allocations; samples without times; several processes.
run convert -o ending.otlp every.cap
is_rc 0
cmp -s every.otlp ending.otlp || wrong 'differs by the ending'
reported hostile
convert otlp hostile hostile.otlp
otlp check hostile.otlp
has '\x'
run merge every.cap every.cap -o two.cap
is_rc 0
convert otlp two two.otlp
otlp check two.otlp
[ "$(grep -c '^profile of' out)" = 4 ] || wrong 'has not a resource for each process'
run convert --to otlp --only nothing-has-this -o none.otlp every.cap
is_rc 1
exit $bad
