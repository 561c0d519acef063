// desk.js SECONDS - a program on a desktop that nobody touches: it shows the time and a cursor.
//
// SPDX-License-Identifier: MIT
imports.gi.versions.Gtk = '4.0';
const {Gtk, GLib} = imports.gi;
Gtk.init();
const loop = new GLib.MainLoop(null, false);
const box = new Gtk.Box({orientation: Gtk.Orientation.VERTICAL});
const clock = new Gtk.Label(), entry = new Gtk.Entry();
box.append(clock);
box.append(entry);
const window = new Gtk.Window({child: box, defaultWidth: 300, defaultHeight: 100});
function ticks() {
    clock.label = new Date().toString();
    return true;
}
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1000, ticks);
GLib.timeout_add_seconds(GLib.PRIORITY_DEFAULT, Number(ARGV[0]), () => {
    loop.quit();
    return false;
});
ticks();
window.present();
entry.grab_focus();
loop.run();
