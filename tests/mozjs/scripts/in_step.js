// SPDX-License-Identifier: MIT
// Two functions take turns of half a cycle each. ARGV[0] is the cycle in microseconds: with that of
// the scheduler's tick, each tick finds the same function. The cycles begin at multiples of their
// length, so that a delay does not move them. Prints the first one's share of the time, in percent,
// by the program's own clock.
const {GLib} = imports.gi;
const cycle = Number(ARGV[0]);
const now = () => GLib.get_monotonic_time();
let sum = 0;

function spin() {
    for (let i = 0; i < 2000; i++)
        sum = (sum * 31 + i) & 0xffff;
}

function first(until) {
    while (now() < until)
        spin();
}

function second(until) {
    while (now() < until)
        spin();
}

const end = now() + 1000 * Number(GLib.getenv('BURN_MS') ?? 2000);
const spent = [0, 0];
for (let at = now(); at < end;) {
    const begin = Math.floor(at / cycle) * cycle;
    first(begin + cycle / 2);
    const middle = now();
    second(begin + cycle);
    spent[0] += middle - at;
    at = now();
    spent[1] += at - middle;
}
print((100 * spent[0] / (spent[0] + spent[1])).toFixed(1));
