#!/bin/sh
# browser/profiler.sh - the Firefox Profiler's own command line loads what convert writes,
# with the report's totals, marks and counters.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/node/lib.sh"
need @firefox-devtools/profiler-cli
. "$SRCDIR/tests/export/lib.sh"
. "$SRCDIR/tests/browser/lib_firefox.sh"
trap 'profiler stop --all >/dev/null 2>&1; rm -rf "$tmp"' EXIT
load() # FILE
{
    ran="profiler-cli load $1"
    profiler_load "$1" >out 2>err || wrong 'failed'
}
ask() # ARGUMENTS...: leaves out
{
    ran="profiler-cli $*"
    profiler "$@" >out 2>err || wrong 'failed'
}

# Self in ns by function name; the captures here have three threads.
functions() { for thread in t-0 t-1 t-2; do profiler_functions $thread 1e6; done; }

reported every
convert firefox every every.profile.json
load every.profile.json
functions | figures >got
same every.self got 'profiler-cli thread functions'
ask thread list
row 'main host script.x 100'
has 'helper'
row 'thread 300 child 300'
ask thread markers --thread t-0 --list --json
for text in '"sweep"' 'full' '"duration": 2'; do
    has "$text"
done
ask counter list
has heap
ask thread samples --thread t-0
for category in JIT Interpreter Native Kernel 'GC / CC'; do
    has "$category"
done
ask stop --all

# Names that try to break out stay names; the viewer's own upgrades take them.
convert firefox hostile hostile.profile.json
load hostile.profile.json
ask profile info
row '3 threads across 2 processes'
functions | awk '{ sum += $1 } END { exit sum != 140000000 }' ||
    wrong 'does not add up to 140 ms'
ask stop --all

# Its importer of perf script's text: a sample each paragraph.
convert perf every every.perf.txt
load every.perf.txt
for thread in t-0 t-1 t-2; do profiler_functions $thread 1; done | figures >got
same every.samples got 'profiler-cli on the text of perf'
ask stop --all

# Captures of others, which name no clock and have no marks.
run convert --to firefox -o foreign.profile.json foreign.cap
is_rc 0
load foreign.profile.json
ask thread functions --limit 0
row '[kernel] - self: 1 (50.0%)'
ask stop --all

# What threads were doing: spans on a row of each thread.
convert firefox states states.profile.json
load states.profile.json
ask thread markers --thread t-0 --list --json
for text in '"Thread state"' 'waiting for a processor' 'asleep ppoll' 'host the big lock' \
    '"duration": 1'; do
    has "$text"
done
ask thread markers --thread t-1 --list --json
has 'running'
hasnt 'asleep'
ask stop --all

# Tasks: markers by kind, with flows.
convert firefox tasks tasks.profile.json
load tasks.profile.json
ask thread markers --thread t-0 --list --json
for text in '"timeout"' 'tick (app.js:10)' 'load (app.js:20)' '"Turn"'; do
    has "$text"
done
ask stop --all
"$node" -e '
    const p = JSON.parse(require("fs").readFileSync("tasks.profile.json", "utf8")), ends = {};
    for (const { markers: m } of p.threads)
        m.data.forEach((d) => { if (d.flow !== undefined)
            ends[p.shared.stringArray[d.flow]] = d; });
    for (const { markers: m } of p.threads)
        m.data.forEach((d) => { if (d.cause !== undefined)
            console.log("flow", ends[p.shared.stringArray[d.cause]].name, "->", d.name); });
    ' >out 2>err || wrong 'failed'
row 'flow tick (app.js:10) -> load (app.js:20)'
row 'flow load (app.js:20) -> show (app.js:30)'
lines 5
exit $bad
