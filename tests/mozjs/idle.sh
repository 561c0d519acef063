#!/bin/sh
# idle.sh - by the wall clock, time in which GLib's main loop waits is idle.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# It prints how many ms it worked, and waited. Work ends between two ticks of the kernel, at which
# a busy machine takes the processor away.
cat >timer.js <<'END'
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
const now = GLib.get_monotonic_time;
let n = 0, worked = 0;
function work() {
    const begin = now();
    while (now() < begin + 22300);
    worked += now() - begin;
}
GLib.timeout_add(0, 100, () => {
    work();
    if (++n === 10)
        loop.quit();
    return true;
});
const begin = now();
loop.run();
print(Math.round(worked / 1000), Math.round((now() - begin - worked) / 1000));
END

head_ms() # KEY OPTION...: a figure of the report's head, in ms
{
    head_key=$1
    shift
    "$JSPROF_TOOL" report --json "$@" idle.cap |
        sed -n "1s/.*\"$head_key\":\([0-9]*\)000000[,}].*/\1/p"
}

work_ms() # OPTION...: of work
{
    "$JSPROF_TOOL" report --json "$@" idle.cap |
        sed -n 's/.*"function":"work .*"total":\([0-9]*\)000000,.*/\1/p'
}

# The ms of samples that found the thread asleep and had CPU time of 1 ms and more since the one
# before: that look came late, and gave the loop's wait the time of work, too.
late_ms()
{
    "$JSPROF_TOOL" dump idle.cap | awk '
        / SAMPLE / && match($0, /weight [0-9]+/) {
            w = substr($0, RSTART + 7, RLENGTH - 7)
            match($0, /cpu_ns [0-9]+/)
            if (/asleep/ && substr($0, RSTART + 7, RLENGTH - 7) >= 1e6) late[$2] = 1
            ms[$2] += w
        }
        END { for (t in late) all += ms[t]; print all + 0 }'
}

# The machine may stop the script between its clock and the loop's.
as_script() # WHAT MS WANTED
{
    check "$1: $2 ms, and the script has $3; late looks have $late" test \
        $(($2 - $3)) -le $((all_ms / 10 + late)) -a $(($3 - $2)) -le $((all_ms / 10 + late))
}

"$GJS" --profile-clock=wall --profile-output=idle.cap timer.js >out 2>err
check 'whole' whole idle.cap
"$JSPROF_TOOL" report --limit=0 idle.cap >report
read -r worked_ms waited_ms <out
all_ms=$(head_ms value --idle)
late=$(late_ms)
as_script 'idle time' "$(head_ms idle_value)" "$waited_ms"
as_script 'work' "$(work_ms)" "$worked_ms"
as_script 'work, with idle time' "$(work_ms --idle)" "$worked_ms"
check 'the rest is shown' test "$(head_ms value)" = $((all_ms - $(head_ms idle_value)))
check 'the report says how much was idle' grep -Eq '^Idle: [1-9][0-9.]*% of elapsed' report
check 'it names the function of GLib that calls the timeout' \
    grep -q ' native  g_timeout_dispatch  \[libglib' report
"$B/bin/jsprof-gjs" --profile-clock=wall --profile-output=other.cap -- gjs-console timer.js \
    >out 2>err
"$JSPROF_TOOL" report --limit=0 other.cap >other.report
check 'also where it is recorded from outside' grep -q ' native  g_timeout_dispatch ' other.report

finish
