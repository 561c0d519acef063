// SPDX-License-Identifier: MIT
// One line of a small function has nearly all of the work, wherever it is compiled.
function inner(a, i) {
    let x = 0;
    for (let k = 0; k < 50; k++)
        x += a[(i + k) & 1023] * 3;
    return x;
}

function work(n) {
    const a = new Float64Array(1024);
    let s = 0;
    for (let i = 0; i < n; i++) {
        s += inner(a, i);
        a[i & 1023] = s & 7;
    }
    return s;
}

/* The CPU time of this thread, in ms: a busy machine gives less of it than elapses. */
const {GLib} = imports.gi;
const spent = () => parseInt(imports.byteArray.toString(
    GLib.file_get_contents('/proc/self/schedstat')[1])) / 1e6;
const until = spent() + Number(GLib.getenv('BURN_MS'));
while (spent() < until)
    work(100000);
0;
