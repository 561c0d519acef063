// SPDX-License-Identifier: MIT
// A fixed amount of work, ARGV[0]: friendly (loops that are compiled) or recursion. The CPU
// time of all threads of the process goes to the file COST, in nanoseconds. COST_TIMES: how
// often it is done.
const {Gio, GLib} = imports.gi;
const ByteArray = imports.byteArray;

function spin(n) {
    let x = 0;
    for (let i = 0; i < n; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

function friendly() {
    let sum = 0;
    for (let i = 0; i < 300; i++)
        sum += spin(1e6);
    return sum;
}

function fib(n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function recursion() {
    return fib(33);
}

function cpu() {
    const tasks = Gio.File.new_for_path('/proc/self/task').enumerate_children('standard::name', 0,
        null);
    let sum = 0, task;
    while ((task = tasks.next_file(null))) {
        const [, text] = GLib.file_get_contents(`/proc/self/task/${task.get_name()}/schedstat`);
        sum += Number(ByteArray.toString(text).split(' ')[0]);
    }
    return sum;
}

const before = cpu();
let result;
for (let i = Number(GLib.getenv('COST_TIMES') ?? 1); i > 0; i--)
    result = {friendly, recursion}[ARGV[0]]();
GLib.file_set_contents(GLib.getenv('COST'), `${cpu() - before}`);
print(result);
