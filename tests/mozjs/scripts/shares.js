// SPDX-License-Identifier: MIT
// Four functions that burn CPU time as 1 : 8 : 16 : 32, for BURN_MS (environment)
// milliseconds; what is printed does not depend on it.
function spin(n) {
    let x = 0;
    for (let i = 0; i < n; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

function tinywork() {
    return spin(10000);
}

function leastwork() {
    return spin(80000);
}

function middlework() {
    return spin(160000);
}

function mostwork() {
    return spin(320000);
}

const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));
let sum = 0;
do
    sum = tinywork() + leastwork() + middlework() + mostwork();
while (Date.now() < until);
print(sum);
