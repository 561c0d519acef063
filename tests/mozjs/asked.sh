#!/bin/sh
# asked.sh - a GJS program that listens is asked for its long turns only (`jsprof record --stalls`):
# all callbacks of GLib's main loop that take too long are in the capture, and nothing else; the
# next recording has all again.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
unset JSPROF JSPROF_CONTROL
export XDG_RUNTIME_DIR="$SCRATCH/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"

# Each tenth tick is long: 40, 55, 70 or 85 ms.
cat >ticks.js <<'END'
const {GLib} = imports.gi;
const now = () => GLib.get_monotonic_time() / 1000;
function busy(ms) {
    const begin = now();
    let x = 0;
    while (now() < begin + ms)
        for (let i = 0; i < 2000; i++)
            x = x * 31 + i & 0xffff;
    return x;
}
let n = 0;
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 10, function tick() {
    const begin = now();
    if (++n % 10 === 0)
        busy(40 + n / 10 % 4 * 15);
    const took = now() - begin;
    if (took > 20)
        print(begin.toFixed(3), took.toFixed(3));
    return true;
});
new GLib.MainLoop(null, false).run();
END

begins() # PROGRAM...
{
    JSPROF_CONTROL=1 JSPROF_TASKS=1 "$@" ticks.js >log 2>err &
    pid=$!
    begins_tries=0
    until "$JSPROF_TOOL" ps --csv | grep -q "^$pid,[0-9]*,ready,[1-9]" && [ -s log ]; do
        begins_tries=$((begins_tries + 1))
        kill -0 $pid 2>/dev/null && [ $begins_tries -lt 600 ] || { cat err; return 1; }
        sleep 0.1
    done
}

ends()
{
    kill $pid
    wait $pid 2>/dev/null
    cat err
    [ ! -s err ]
}

# A sample says what the time was spent on.
has_a_cause()
{
    cat asked
    grep -Eq ',(function|processor),busy [(]ticks.js:3' asked
}

all_again()
{
    rm -f cap
    "$JSPROF_TOOL" record --quiet --seconds 0.5 -o cap $pid && whole cap &&
        ! info_has 'only turns of a loop' && info_has '[1-9][0-9,]* runs'
}

for program in gjs-console jsprof-gjs; do
    UNDER=$program
    command="$B/bin/$program"
    [ $program = gjs-console ] || command="$command gjs-console"
    # shellcheck disable=SC2086
    check 'it listens' begins $command
    check 'the long turns are there, and no other' stalls_as_logged log 3
    check 'with what they did' has_a_cause
    check 'the next recording has all again' all_again
    check 'and the long ones can be asked for again' stalls_as_logged log 3
    check 'it has no error' ends
done
finish
