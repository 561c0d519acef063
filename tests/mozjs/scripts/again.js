// SPDX-License-Identifier: MIT
// WebAssembly calls a function that instantiates the same module, again and again: while
// SpiderMonkey looks whether the module's functions have names, it holds the lock that one
// takes who asks for a name.
const module = new WebAssembly.Module(new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    1, 4, 1, 96, 0, 0, // type: ()
    2, 7, 1, 1, 109, 1, 102, 0, 0, // import "m" "f"
    3, 2, 1, 0,
    7, 5, 1, 1, 103, 0, 1, // export "g"
    10, 6, 1, 4, 0, 16, 0, 11, // which calls f
]));
const none = {m: {f() {}}};
const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));

function again() {
    do
        new WebAssembly.Instance(module, none);
    while (Date.now() < until);
}

new WebAssembly.Instance(module, {m: {f: again}}).exports.g();
print('done');
