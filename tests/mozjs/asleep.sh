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
const spent = {first: 0, second: 0};
function timed(f, ms) {
    const begin = GLib.get_monotonic_time();
    f(ms);
    spent[f.name] += GLib.get_monotonic_time() - begin;
}
function first(ms) { GLib.usleep(1000 * ms); }
function second(ms) { GLib.usleep(1000 * ms); }
for (let i = 0; i < 6; i++) {
    timed(first, 100);
    timed(second, 200);
}
print('first', spent.first, 'second', spent.second);
END
cat >loop.js <<'END'
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
let n = 0;
GLib.timeout_add(0, 100, () => {
    if (++n === 10)
        loop.quit();
    return true;
});
function main() { loop.run(); }
const begin = GLib.get_monotonic_time();
main();
print('main', GLib.get_monotonic_time() - begin);
END

of_ms() # FUNCTION: its time, with what it waits for
{
    "$JSPROF_TOOL" report --json --idle --limit=0 cap |
        sed -n "s/.*\"function\":\"$1 .*\"total\":\([0-9]*\)000000,.*/\1/p"
}

# Its time is what the script measured around its calls, and not that of the other function. A
# look that comes late gives the time since the one before to the wrong side of a boundary.
as_measured() # FUNCTION
{
    measured_ms=$(sed -n "s/.*$1 \([0-9]*\)[0-9][0-9][0-9].*/\1/p" out)
    found_ms=$(of_ms "$1")
    check "$1: ${found_ms:=0} ms of $measured_ms" \
        test "$found_ms" -gt $((measured_ms * 8 / 10)) -a "$found_ms" -lt $((measured_ms * 3 / 2))
}

# The baseline compiler takes such a callback after some calls; both functions sleep at one depth.
cat >compiled.js <<'END'
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
function first(ms) { GLib.usleep(1000 * ms); }
function second(ms) { GLib.usleep(1000 * ms); }
function work(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) & 0xffff; return x; }
const spent = {first: 0, second: 0};
function timed(f, ms) {
    const begin = GLib.get_monotonic_time();
    f(ms);
    spent[f.name] += GLib.get_monotonic_time() - begin;
}
let n = 0, sum = 0;
function turn() {
    sum += work(10);
    if (n >= 30) {
        timed(first, 50);
        timed(second, 100);
    }
    if (++n === 42)
        loop.quit();
    return true;
}
GLib.timeout_add(0, 1, turn);
loop.run();
print('first', spent.first, 'second', spent.second);
END

record() # SCRIPT
{
    "$GJS" --profile-clock=wall --profile-output=cap "$1" >out
    check "$1: status $?" test -s out
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
as_measured first
as_measured second
# a place is new to the looker once; a signal may meet each of them
sleeps_on 'few signals' ', [0-9]{1,2} with frames of the host'
sleeps_on 'the calls sleep on' ', [0-9]{1,2} calls interrupted'

# Where compiled code is on the stack, a sleep has a signal or two.
record compiled.js
as_measured first
as_measured second
sleeps_on 'few signals for each' '[ ,]([0-9]{1,2}|1[0-9]{2}) with frames of the host'

record loop.js
as_measured main
sleeps_on 'one signal for the loop' ', [0-9] with frames of the host'
sleeps_on 'which sleeps on' ', [0-9] calls interrupted'

finish
