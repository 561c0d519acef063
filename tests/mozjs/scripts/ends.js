// SPDX-License-Identifier: MIT
// The ways in which a program can end: ARGV[0] says which.
const {GLib, GObject} = imports.gi;
const System = imports.system;
const loop = GLib.MainLoop.new(null, false);

const Button = GObject.registerClass({Signals: {'clicked': {}}},
    class Button extends GObject.Object {});

function later(what) {
    GLib.idle_add(GLib.PRIORITY_LOW, () => {
        what();
        return GLib.SOURCE_REMOVE;
    });
    GLib.timeout_add_seconds(GLib.PRIORITY_HIGH, 5, () => loop.quit());
    loop.run();
}

const ends = {
    ok() {},
    exit() { System.exit(42); },
    throws() { throw new Error('thrown'); },
    throws_string() { throw 'just text'; },
    throws_null() { throw null; },
    throws_deep() { (function a(n) { n ? a(n - 1) : ends.throws(); })(50); },
    recursion() { (function forever() { forever(); })(); },
    idle_exit() { later(() => System.exit(43)); },
    idle_throws() { later(() => { GLib.idle_add(0, () => loop.quit()); ends.throws(); }); },
    signal_exit() {
        const button = new Button();
        button.connect('clicked', () => System.exit(44));
        later(() => button.emit('clicked'));
    },
    promise_exit() {
        Promise.resolve().then(() => { print('before'); System.exit(45); });
        Promise.resolve().then(() => print('never'));
    },
    promise_throws() { Promise.resolve().then(() => { throw new Error('in a promise'); }); },
    rejected_then_exit() { Promise.reject(); later(() => System.exit(46)); },
    awaited() { (async () => { try { await Promise.reject(new Error('x')); } catch {} })(); },
    awaiting_and_throws() { (async () => await true)(); void nobody; },
    import_fails() { imports.no_such_module; },
    gi_fails() { imports.gi.NoSuchNamespace; },
    compile_fails() { eval('print(('); },
    subprocess() { new imports.gi.Gio.Subprocess({argv: ['true']}).init(null); },
    critical() { GLib.log_structured ? printerr('to stderr') : 0; },
    last_value() { return 7; },
};

ends[ARGV[0]]();
