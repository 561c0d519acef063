// SPDX-License-Identifier: MIT
// Work at the bottom of a deep stack. ARGV[0] is its depth.
function bottom() {
    let x = 0;
    for (let i = 0; i < 500000; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

function down(n) {
    return n === 0 ? bottom() : down(n - 1);
}

const depth = Number(ARGV[0] || 4000);
const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));
let sum = 0;
do
    sum = down(depth);
while (Date.now() < until);
print(sum);
