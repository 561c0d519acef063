// SPDX-License-Identifier: MIT
// Two calls of one function from one other, a quarter and three quarters of the work.
function spin(n) {
    let x = 0;
    for (let i = 0; i < n; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

function work() {
    let sum = spin(3000);
    sum += spin(9000);
    return sum;
}

const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));
while (Date.now() < until)
    work();
0;
