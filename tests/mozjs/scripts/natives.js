// SPDX-License-Identifier: MIT
// Time in C functions that a script calls, and in a callback that C calls back:
// GLib's checksum, GLib's sort.
const {Gio, GLib} = imports.gi;

const text = 'all work and no play '.repeat(20000);
function checksum() {
    return GLib.compute_checksum_for_string(GLib.ChecksumType.SHA256, text, -1).length;
}

const store = new Gio.ListStore({item_type: Gio.SimpleAction});
for (let i = 0; i < 20; i++)
    store.append(new Gio.SimpleAction({name: `${i * 7 % 20}`}));

function burn() {
    let x = 0;
    for (let i = 0; i < 2000; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

function sorted() {
    store.sort(function later(a, b) {
        burn();
        return Number(a.name) - Number(b.name);
    });
    return store.get_n_items();
}

/* As long in the one as in the other, whichever way scripts are run. */
function slice(work) {
    const end = GLib.get_monotonic_time() + 20000;
    let result = 0;
    do
        result = work();
    while (GLib.get_monotonic_time() < end);
    return result;
}

const until = Date.now() + Number(GLib.getenv('BURN_MS'));
let sum = 0;
do
    sum = slice(sorted) + slice(checksum);
while (Date.now() < until);
print(sum);
