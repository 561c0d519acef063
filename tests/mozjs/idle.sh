#!/bin/sh
# idle.sh - by the wall clock, time in which GLib's main loop waits is idle.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

cat >timer.js <<'END'
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
function work() {
    for (const until = GLib.get_monotonic_time() + 20000; GLib.get_monotonic_time() < until;);
}
let n = 0;
GLib.timeout_add(0, 100, () => {
    work();
    if (++n === 10)
        loop.quit();
    return true;
});
loop.run();
END

share() # OPTION...: of work, in whole percent of what counts
{
    "$JSPROF_TOOL" report --json "$@" idle.cap | tr , '\n' | awk -F: '
        /"value"/ && !all { all = $2 } /"function":"work / { is = 1 }
        is && /"total"/ { printf "%.0f\n", 100 * $2 / all; exit }'
}

"$GJS" --profile-clock=wall --profile-output=idle.cap timer.js >out 2>err
check 'whole' whole idle.cap
"$JSPROF_TOOL" report --limit=0 idle.cap >report
check 'the report says how much was idle' grep -Eq '^Idle: [5-9][0-9][.][0-9]% of elapsed' report
check 'it names the function of GLib that calls the timeout' \
    grep -q ' native  g_timeout_dispatch  \[libglib' report
"$B/bin/jsprof-gjs" --profile-clock=wall --profile-output=other.cap -- gjs-console timer.js \
    >out 2>err
"$JSPROF_TOOL" report --limit=0 other.cap >other.report
check 'also where it is recorded from outside' grep -q ' native  g_timeout_dispatch ' other.report
check "work has $(share) % of the rest" test "$(share)" -ge 70
check "and $(share --idle) % of all" test "$(share --idle)" -le 40

finish
