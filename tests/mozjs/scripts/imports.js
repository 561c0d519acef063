// SPDX-License-Identifier: MIT
// WebAssembly that calls a script, which calls it again, seven times over.
const bytes = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    1, 4, 1, 96, 0, 0, // type: () -> ()
    2, 7, 1, 1, 109, 1, 102, 0, 0, // import "m" "f"
    3, 2, 1, 0,
    7, 5, 1, 1, 103, 0, 1, // export "g"
    10, 8, 1, 6, 0, 16, 0, 16, 0, 11, // calls it twice
]);
let depth = 0;

function burn() {
    let x = 0;
    for (let i = 0; i < 20000; i++)
        x += i;
    return x;
}

function back() {
    burn();
    if (depth < 6) {
        depth++;
        again.g();
        depth--;
    }
}

const again = new WebAssembly.Instance(new WebAssembly.Module(bytes), {m: {f: back}}).exports;
const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));
do
    again.g();
while (Date.now() < until);
print(depth);
