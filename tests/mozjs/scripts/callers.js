// SPDX-License-Identifier: MIT
// One function that burns, reached through each way by which C++ calls JavaScript:
// a main loop, a promise, sort, replace, JSON, a getter, a generator, a GObject signal.
const {Gio, GLib, GObject} = imports.gi;
const loop = GLib.MainLoop.new(null, false);

const Bell = GObject.registerClass({Signals: {'rung': {}}},
    class Bell extends GObject.Object {});
const bell = new Bell();

function burn() {
    let x = 0;
    for (let i = 0; i < 150000; i++)
        x = (x * 31 + i) & 0xffff;
    return x;
}

function viaSort() {
    [3, 1, 2].sort(function compare(a, b) {
        burn();
        return a - b;
    });
}

function viaMap() {
    [1].map(function each() {
        return burn();
    });
}

function viaReplace() {
    'abc'.replace(/b/, function replacer() {
        return String(burn());
    });
}

function viaJson() {
    JSON.parse('[1]', function reviver(key, value) {
        burn();
        return value;
    });
}

function viaGetter() {
    return {get value() {
        return burn();
    }}.value;
}

function viaGenerator() {
    return [...(function* generator() {
        yield burn();
    })()];
}

function viaSignal() {
    bell.emit('rung');
}
bell.connect('rung', function onRung() {
    burn();
});

async function viaPromise() {
    await null;
    burn();
}

/* GLib's own threads run beside us and must not be disturbed. */
function viaThread() {
    return new Promise((done, failed) => {
        Gio.File.new_for_path('/').query_info_async('*', 0, 0, null, function ready(file, res) {
            try {
                file.query_info_finish(res);
                burn();
                done();
            } catch (e) {
                failed(e);
            }
        });
    });
}

const until = Date.now() + Number(imports.gi.GLib.getenv('BURN_MS'));
const ways = [viaSort, viaMap, viaReplace, viaJson, viaGetter, viaGenerator, viaSignal,
    viaPromise];
GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, function tick() {
    // On a busy machine a turn may begin with the kernel's tick, and be shorter than its time.
    ways.push(ways.shift());
    for (const way of ways)
        way();
    viaThread().then(() => {
        if (Date.now() < until)
            GLib.idle_add(GLib.PRIORITY_DEFAULT_IDLE, tick);
        else
            loop.quit();
    });
    return GLib.SOURCE_REMOVE;
});
loop.run();
print('quit');
