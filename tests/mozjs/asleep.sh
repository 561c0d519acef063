#!/bin/sh
# asleep.sh - by the wall clock, a script that sleeps in C is not woken at each look, and each of
# its sleeps has the functions that called it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# All of it is interpreted. Both functions sleep at the same place on the C stack.
cat >naps.js <<'END'
const {GLib} = imports.gi;
function first(ms) { GLib.usleep(1000 * ms); }
function second(ms) { GLib.usleep(1000 * ms); }
for (let i = 0; i < 6; i++) {
    first(150);
    second(300);
}
END
cat >loop.js <<'END'
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
let n = 0;
GLib.timeout_add(0, 100, () => {
    if (++n === 20)
        loop.quit();
    return true;
});
function main() { loop.run(); }
main();
END

of_ms() # FUNCTION: its time, with what it waits for
{
    "$JSPROF_TOOL" report --json --idle --limit=0 cap |
        sed -n "s/.*\"function\":\"$1 .*\"total\":\([0-9]*\)000000,.*/\1/p"
}

near() # FUNCTION MS: at least so many, and not those of the other one
{
    near_ms=$(of_ms "$1")
    check "$1: $near_ms ms of $2" test "${near_ms:-0}" -gt $(($2 * 8 / 10)) -a \
        "${near_ms:-0}" -lt $(($2 * 3 / 2))
}

# The baseline compiler takes such a callback after some calls; both functions sleep at one depth.
cat >compiled.js <<'END'
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
function first(ms) { GLib.usleep(1000 * ms); }
function second(ms) { GLib.usleep(1000 * ms); }
function work(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) & 0xffff; return x; }
let n = 0, sum = 0;
function turn() {
    sum += work(10);
    if (n >= 30) {
        first(50);
        second(100);
    }
    if (++n === 50)
        loop.quit();
    return true;
}
GLib.timeout_add(0, 1, turn);
loop.run();
END

record() # SCRIPT
{
    check "$1" "$GJS" --profile-clock=wall --profile-output=cap "$1"
    check 'whole' whole cap
    "$JSPROF_TOOL" info cap | grep looks >looks
    cat looks
}

# Where the C stack can be walked without its frame pointer, which the kernel does not report; the
# SpiderMonkey of some distributions needs it.
sleeps_on() # WHAT PATTERN
{
    if grep -Eq ', [0-9] without frame pointer' looks; then
        check "$1" grep -Eq "$2" looks
    fi
}

record naps.js
near first 900
near second 1800
# a place is new to the looker once; a signal may meet each of them
sleeps_on 'few signals' ', [0-9]{1,2} with frames of the host'
sleeps_on 'the calls sleep on' ', [0-9]{1,2} calls interrupted'

# Where compiled code is on the stack, a sleep has a signal or two.
record compiled.js
near first 1000
near second 2000
sleeps_on 'few signals for each' '[ ,]([0-9]{1,2}|1[0-9]{2}) with frames of the host'

record loop.js
near main 2000
sleeps_on 'one signal for the loop' ', [0-9] with frames of the host'
sleeps_on 'which sleeps on' ', [0-9] calls interrupted'

finish
