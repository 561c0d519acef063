// jsprof.js - marks, counters and labels of a script's own, as `imports.jsprof`.
//
// SPDX-License-Identifier: MIT
//
// A recorded program has the global object `jsprof` (script.cpp), which these functions call.
// Without a recording they do nothing. GJS loads a module once, after the recording began.
/* exported mark, counter, label, trace, now */

const recorder = globalThis.jsprof ?? null;

// Something happened now, or has lasted since `begin`, a value of now().
function mark(name, message = null, begin = undefined) {
    recorder?.mark(name, message, begin);
}

// The figure `name` has this value from now on.
function counter(name, value) {
    recorder?.counter(name, value);
}

// Set a label of this thread, or remove it if the value is null. With a function: call it with
// these arguments under the label, and return what it returns.
function label(key, value, f = undefined, ...args) {
    return recorder ? recorder.label(key, value, f, ...args) : f?.(...args);
}

// Set the ids of a trace as hexadecimal digits, 32 and 16; null: none.
function trace(traceId, spanId = null) {
    recorder?.trace(traceId, spanId);
}

// Nanoseconds of the monotonic clock, with or without a recording.
function now() {
    return recorder ? recorder.now() : 1000 * imports.gi.GLib.get_monotonic_time();
}
