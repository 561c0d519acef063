// SPDX-License-Identifier: MIT
// Ten kinds of work, each in a function of its own, in turn for BURN_MS milliseconds. The
// shares by the program's own clock go to the file SHARES, a line a part: name share.
// ARGV names the parts; without, all of them. What is printed does not depend on time.
const {Gio, GLib} = imports.gi;
const System = imports.system;

/* One hot loop, which the optimizing compiler takes over. */
function ion() {
    let x = 0;
    for (let i = 0; i < 3e6; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

/* Many calls of small functions, which are inlined. */
function add(a, b) {
    return a + b & 0xffff;
}

function twice(a) {
    return add(a, a);
}

function calls() {
    let x = 1;
    for (let i = 0; i < 2e5; i++)
        x = add(twice(x), i);
    return x;
}

function fib(n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function recursion() {
    return fib(23);
}

const unsorted = Array.from({length: 4000}, (_, i) => i * 7919 % 4001);
function sort() {
    return unsorted.slice().sort((a, b) => b - a)[0];
}

const prose = 'the quick brown fox jumps over the lazy dog 1234 '.repeat(400);
function regexp() {
    let n = 0;
    for (let i = 0; i < 3; i++)
        n += prose.replace(/(\w+) (\w+)/g, '$2 $1').match(/[aeiou]\w*\d?/g).length;
    return n;
}

/* Short lives for the nursery, longer ones for the collector proper. */
let kept = [];
function churn() {
    for (let i = 0; i < 40000; i++) {
        kept.push({i, next: kept[kept.length - 1], text: `n${i}`});
        if (kept.length > 20000)
            kept = [];
    }
    return kept.length > 0;
}

function* counting(n) {
    for (let i = 0; i < n; i++)
        yield i;
}

function generators() {
    let sum = 0;
    for (const i of counting(40000))
        sum += i;
    return sum;
}

async function step(i) {
    return (await i) + 1;
}

async function asynchronous() {
    let sum = 0;
    for (let i = 0; i < 3000; i++)
        sum += await step(i);
    return sum;
}

function listing() {
    const all = Gio.File.new_for_path('/usr/share').enumerate_children('standard::name', 0, null);
    let n = 0;
    while (all.next_file(null))
        n++;
    all.close(null);
    return n > 0;
}

const code = new Uint8Array([
    0, 97, 115, 109, 1, 0, 0, 0,
    1, 6, 1, 96, 1, 127, 1, 127, // type: (i32) -> i32
    3, 2, 1, 0,
    7, 7, 1, 3, 102, 105, 98, 0, 0, // export "fib"
    10, 30, 1, 28, 0, 32, 0, 65, 2, 72, 4, 127, 32, 0, 5, 32, 0, 65, 1, 107, 16, 0,
    32, 0, 65, 2, 107, 16, 0, 106, 11, 11,
]);
const compiled = new WebAssembly.Instance(new WebAssembly.Module(code)).exports;
function wasm() {
    return compiled.fib(25);
}

/* Not part of the rest, for storms: code that comes and goes, exceptions through frames,
 * full collections. */
function fresh() {
    let sum = 0;
    for (let i = 0; i < 20; i++)
        sum += new Function('x', `let s = ${i}; for (let j = 0; j < 500; j++) s += x;
            return s;`)(i);
    return sum + eval('(function () { return 1; })()');
}

/* Stacks that grow, code that gives up and is compiled again, what proxies and callbacks call. */
function deep(n) {
    return n === 0 ? 0 : 1 + deep(n - 1);
}

function changing(v) {
    return v + v;
}

function bailouts() {
    let total = deep(2000) + changing('x').length + changing(1.5) + changing(null);
    for (let i = 0; i < 2000; i++)
        total += changing(i);
    const p = new Proxy({}, {get: (target, name) => name.length});
    return total + p.abc + JSON.parse('[1,2,{"a":3}]', (k, v) => v)[0] +
        'aXbX'.replace(/X/g, () => 'yy').length;
}

function thrower(n) {
    try {
        if (n === 0)
            throw new Error('from below');
        return thrower(n - 1);
    } finally {
        n++;
    }
}

function exceptions() {
    let n = 0;
    for (let i = 0; i < 200; i++) {
        try {
            thrower(20);
        } catch (e) {
            n += e.stack.length > 0 ? 1 : 0;
        }
    }
    return n;
}

function collections() {
    System.gc();
    return 1;
}

const parts = {ion, calls, recursion, sort, regexp, churn, generators, asynchronous, listing, wasm};
const more = {fresh, bailouts, exceptions, collections};
const chosen = ARGV.length ? ARGV : Object.keys(parts);
const spent = Object.fromEntries(chosen.map(name => [name, 0]));
const results = {};

/* At least five milliseconds, so that the way from part to part does not count. */
async function turn(name) {
    const part = parts[name] ?? more[name];
    const began = GLib.get_monotonic_time();
    let now;
    do {
        results[name] = name === 'asynchronous' ? await part() : part();
        now = GLib.get_monotonic_time();
    } while (now - began < 5000);
    spent[name] += now - began;
}

async function main() {
    const until = GLib.get_monotonic_time() + 1000 * Number(GLib.getenv('BURN_MS'));
    do {
        for (const name of chosen)
            await turn(name);
    } while (GLib.get_monotonic_time() < until);
    const all = Object.values(spent).reduce((a, b) => a + b);
    const path = GLib.getenv('SHARES');
    if (path)
        GLib.file_set_contents(path, chosen.map(name => `${name} ${spent[name] / all}\n`).join(''));
    print(JSON.stringify(results));
}

main();
