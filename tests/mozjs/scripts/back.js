// SPDX-License-Identifier: MIT
// WebAssembly that calls JavaScript, in a way that SpiderMonkey does not expect:
//   again    The called function instantiates the same module, again and again. While
//            SpiderMonkey looks whether the module's functions have names, it holds the
//            lock that a request for a name takes.
//   forgets  They call each other, a few deep, throw and collect: SpiderMonkey forgets
//            its frames again and again.
const module = new WebAssembly.Module(new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    1, 4, 1, 96, 0, 0, // type: ()
    2, 7, 1, 1, 109, 1, 102, 0, 0, // import "m" "f"
    3, 2, 1, 0,
    7, 5, 1, 1, 103, 0, 1, // export "g"
    10, 6, 1, 4, 0, 16, 0, 11, // which calls f
]));
let depth = 0;
let n = 0;
const none = {m: {f() {}}};
const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));

function forgets() {
    n++;
    if (n % 7 === 0)
        throw new Error('7');
    if (depth < 6 && n % 3 === 0) {
        depth++;
        try { g.forgets(); } finally { depth--; }
    }
    if (n % 1000 === 0)
        imports.system.gc();
}

function again() {
    do
        new WebAssembly.Instance(module, none);
    while (Date.now() < until);
}

const g = {};
for (const f of [again, forgets])
    g[f.name] = new WebAssembly.Instance(module, {m: {f}}).exports.g;
do {
    for (let i = 0; i < 1000; i++) {
        try { g[ARGV[0]](); } catch (e) { n++; }
    }
} while (Date.now() < until);
print('done');
