/* tasks_load.js - so many dispatches of a timeout, one a millisecond, each with ten promise jobs.
 *
 * SPDX-License-Identifier: MIT
 */
const {GLib} = imports.gi;
const loop = new GLib.MainLoop(null, false);
let left = Number(ARGV[0]), sum = 0;
async function add(n) {
    await null;
    sum += n;
}
function tick() {
    for (let i = 0; i < 10; i++)
        add(i);
    if (--left)
        GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, tick);
    else
        GLib.idle_add(GLib.PRIORITY_DEFAULT, () => loop.quit());
    return false;
}
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, tick);
loop.run();
if (sum !== 45 * Number(ARGV[0]))
    throw new Error(`${sum}`);
