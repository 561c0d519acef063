// SPDX-License-Identifier: MIT
import GLib from 'gi://GLib';
import {burnt} from './burnt.mjs';

async function waiter() {
    await null;
    return burnt();
}

const until = GLib.get_monotonic_time() + 1000 * Number(GLib.getenv('BURN_MS'));
let n = 0;
do
    n = await waiter();
while (GLib.get_monotonic_time() < until);
print(n);
