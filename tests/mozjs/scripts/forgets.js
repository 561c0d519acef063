// SPDX-License-Identifier: MIT
// WebAssembly and JavaScript that call each other, a few deep, throw and collect:
// SpiderMonkey forgets its frames again and again.
const module = new WebAssembly.Module(new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    1, 4, 1, 96, 0, 0, // type: ()
    2, 7, 1, 1, 109, 1, 102, 0, 0, // import "m" "f"
    3, 2, 1, 0,
    7, 5, 1, 1, 103, 0, 1, // export "g"
    10, 6, 1, 4, 0, 16, 0, 11, // which calls f
]));
const {g} = new WebAssembly.Instance(module, {m: {f: back}}).exports;
let depth = 0;
let n = 0;

function back() {
    n++;
    if (n % 7 === 0)
        throw new Error('7');
    if (depth < 6 && n % 3 === 0) {
        depth++;
        try { g(); } finally { depth--; }
    }
    if (n % 1000 === 0)
        imports.system.gc();
}

const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));
do {
    for (let i = 0; i < 1000; i++) {
        try { g(); } catch (e) { n++; }
    }
} while (Date.now() < until);
print('done');
