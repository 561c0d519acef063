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

# Tasks: spans that nest, and flows from a run to those that it caused.
convert chrome tasks tasks.trace.json
"$node" -e '
    const { traceEvents } = JSON.parse(require("fs").readFileSync("tasks.trace.json", "utf8"));
    const runs = traceEvents.filter(e => e.ph === "X");
    for (const e of runs)
        console.log("span", e.tid, e.ts, e.dur, e.cat, e.name);
    const around = (e) => runs.filter(r => r.tid === e.tid && r.ts <= e.ts &&
        e.ts <= r.ts + r.dur && r.cat !== "loop").pop();
    for (const f of traceEvents.filter(e => e.ph === "f")) {
        const s = traceEvents.filter(e => e.ph === "s" && e.id === f.id);
        console.log(s.length, "flow", around(s[0]).name, "->", around(f).name);
    }' >out 2>err || wrong 'failed'
row 'span 100 1009000 7000 loop turn'
row 'span 100 1010000 4000 timeout tick (app.js:10)'
row '1 flow tick (app.js:10) -> load (app.js:20)'
row '1 flow load (app.js:20) -> show (app.js:30)'
grep -c flow out >lines
[ "$(cat lines)" = 5 ] || wrong 'has not 5 flows'
trace tasks.trace.json

# A thread that never sleeps is idle for no less than a period at a time.
"$B/bin/lark" --profile-output=busy.cap "$SRCDIR/examples/lark/programs/words.lark" \
    "$SRCDIR/docs/capture.md" 200 >out
convert chrome busy busy.trace.json
"$node" -e '
    for (const e of JSON.parse(require("fs").readFileSync("busy.trace.json", "utf8")).traceEvents)
        if (e.name === "ProfileChunk") {
            const { cpuProfile: { samples }, timeDeltas } = e.args.data;
            const idle = samples.flatMap((id, i) => id === 2 && i + 1 < samples.length
                ? [timeDeltas[i + 1]] : []);
            console.log(samples.length, "samples", idle.length, "idle",
                idle.filter(us => us < 1000).length, "short");
        }' >out 2>err || wrong 'failed'
row ' 0 short'
exit $bad
