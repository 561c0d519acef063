// SPDX-License-Identifier: MIT
// C calls functions with fewer arguments than they take, so SpiderMonkey's compiled code has a
// frame of its own between the two. One such call is inside of another.
const {Gio, GLib} = imports.gi;
const loop = GLib.MainLoop.new(null, false);

const store = new Gio.ListStore({item_type: Gio.SimpleAction});
for (let i = 0; i < 20; i++)
    store.append(new Gio.SimpleAction({name: `${i * 7 % 20}`}));

function burn() {
    let x = 0;
    for (let i = 0; i < 2000; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

const until = Date.now() + Number(GLib.getenv('BURN_MS'));
GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, function tick(more, than, given) {
    store.sort(function compare(a, b, c, d, e) {
        burn();
        return Number(a.name) - Number(b.name);
    });
    if (Date.now() < until)
        return GLib.SOURCE_CONTINUE;
    loop.quit();
    return GLib.SOURCE_REMOVE;
});
loop.run();
print('sorted');
