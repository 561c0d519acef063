// jsprof.js - marks and counters of a script's own, as `imports.jsprof`.
//
// SPDX-License-Identifier: MIT
//
// A recorded program has the global object `jsprof` (script.cpp), which these functions call.
// Without a recording they do nothing. GJS loads a module once, after the recording began.
/* exported mark, counter, now */

const recorder = globalThis.jsprof ?? null;

// Something happened now, or has lasted since `begin`, a value of now().
function mark(name, message = null, begin = undefined) {
    recorder?.mark(name, message, begin);
}

// The figure `name` has this value from now on.
function counter(name, value) {
    recorder?.counter(name, value);
}

// Nanoseconds of the monotonic clock, with or without a recording.
function now() {
    return recorder ? recorder.now() : 1000 * imports.gi.GLib.get_monotonic_time();
}
