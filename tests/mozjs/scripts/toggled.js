// SPDX-License-Identifier: MIT
// Three functions that burn, each for BURN_MS milliseconds; between them SIGUSR2 comes.
const {GLib} = imports.gi;
const [, status] = GLib.file_get_contents('/proc/self/stat');
const pid = imports.byteArray.toString(status).split(' ')[0];

function burn(ms) {
    const until = Date.now() + ms;
    while (Date.now() < until);
}

function first() {
    burn(Number(GLib.getenv('BURN_MS')));
}

function second() {
    burn(Number(GLib.getenv('BURN_MS')));
}

function third() {
    burn(Number(GLib.getenv('BURN_MS')));
}

function signal() {
    GLib.spawn_command_line_sync(`kill -USR2 ${pid}`);
    burn(100);
}

first();
signal();
second();
signal();
third();
print('done');
