// SPDX-License-Identifier: MIT
// Everything that moves or frees what a sample reads: collections, code that is
// compiled, thrown away and compiled again, deep stacks, exceptions through them.
// BURN_MS is for how many milliseconds. Prints a sum that does not depend on time.
const System = imports.system;
const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));

function deep(n) {
    return n === 0 ? 0 : 1 + deep(n - 1);
}

function thrower(n) {
    if (n === 0)
        throw new Error('from below');
    try {
        return thrower(n - 1);
    } finally {
        n++;
    }
}

function caught() {
    try {
        thrower(60);
    } catch (e) {
        return e.message.length;
    }
    return 0;
}

function changing(v) {
    return v + v;
}

function bailouts() {
    let total = 0;
    for (let i = 0; i < 2000; i++)
        total += changing(i);
    total += changing('x').length + changing(1.5) + changing(null);
    for (let i = 0; i < 2000; i++)
        total += changing(i + 0.5);
    return total;
}

function fresh(n) {
    const f = new Function('x', `let s = 0;
        for (let i = 0; i < 300; i++)
            s += x;
        return s + ${n};`);
    let total = 0;
    for (let i = 0; i < 40; i++)
        total += f(1);
    return total - 40 * n;
}

function callbacks() {
    return [5, 3, 9, 1].sort((a, b) => a - b).map(v => v * 2).reduce((a, b) => a + b) +
        'aXbX'.replace(/X/g, () => 'yy').length +
        JSON.parse('[1,2,{"a":3}]', (k, v) => (typeof v === 'number' ? v + 1 : v))[0];
}

function* counting(n) {
    for (let i = 0; i < n; i++)
        yield i;
}

function generators() {
    let total = 0;
    for (const v of counting(100))
        total += v;
    return total;
}

function proxied() {
    const p = new Proxy({}, {get: (target, name) => name.length});
    return p.abc + p.de;
}

function garbage() {
    let list = null;
    for (let i = 0; i < 3000; i++)
        list = {list: i % 50 ? list : null, text: `${i}`};
    return list.text.length;
}

function wasm() {
    if (typeof WebAssembly === 'undefined')
        return 14;
    const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 6, 1,
        96, 1, 127, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 9, 1, 7, 0, 32, 0, 65, 2,
        108, 11]));
    return new WebAssembly.Instance(module).exports.f(7);
}

let rounds = 0;
let sum = 0;
do {
    const one = deep(2000) + caught() + bailouts() + fresh(rounds) + callbacks() +
        generators() + proxied() + garbage() + wasm();
    if (rounds++ && one !== sum)
        throw new Error(`round ${rounds}: ${one}, not ${sum}`);
    sum = one;
    if (rounds % 7 === 0)
        System.gc();
} while (Date.now() < until);
print(sum);
