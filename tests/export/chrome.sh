#!/bin/sh
# export/chrome.sh - the trace engine of Chromium's DevTools reads what convert writes, with
# the report's totals, marks and counters.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/node/lib.sh"
need @paulirish/trace_engine
. "$SRCDIR/tests/export/lib.sh"
trace() # FILE: leaves out
{
    ran="DevTools on $1"
    "$node" "$SRCDIR/tests/export/trace.mjs" "$1" >out 2>err || wrong 'failed'
}

reported every
convert chrome every every.trace.json
trace every.trace.json
grep '^[0-9]' out | grep -v '"(idle)"' | tr -d '"' | awk '{ $2 = $3 = $4 = ""; print }' |
    figures >got
same every.self got "DevTools' self times"
trace every.trace.json
has '10000000 10000000 100 200 "wait"'
has '20000000 20000000 300 300 "start"'
has '0 110000000 100 100 "run"'
has 'b "sweep" {"message":"full"}'
has 'i "sweep" {"message":"full"}'
has 'C "heap" {"value":400}'

convert chrome hostile hostile.trace.json
trace hostile.trace.json
grep '^[0-9]' out | grep -v '"(idle)"' | awk '{ sum += $1 } END { exit sum != 140000000 }' ||
    wrong 'does not add up to 140 ms'

# What threads were doing: a row of spans for each thread.
convert chrome states states.trace.json
trace states.trace.json
has 'b "waiting for a processor" {}'
has 'b "asleep" {"syscall":"ppoll"}'
has 'b "in a wait of the host" {"wait":"the big lock"}'
tr '{' '\n' <states.trace.json | grep '"cat":"thread state"' |
    sed 's/.*"ph":"\(.\)".*"ts":\([0-9.]*\),"id":"\([^"]*\)".*/\1 \2 \3/' |
    awk '{ if ($1 == "b") { if ($2 < end[$4]) exit 1; n++ } else end[$4] = $2 }
        END { exit n != 8 }' || wrong 'not 8 spans that follow each other'
exit $bad
