#!/bin/sh
# gtk_stalls.sh - a GTK 4 program holds its loop up for 20, 50 and 200 ms and for a collection:
# `jsprof stalls` finds each, with its function, its place in a frame and its cause, and no other.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/mozjs/lib.sh"
cd "$SCRATCH" || exit 1

need_gtk

# Frames of an animation, and quick timeouts. It computes in the callback of a tick, in a draw
# function and in an idle, reads from a pipe that is written 200 ms later, and collects a large
# heap. It prints the ms of each by its clock.
cat >stalls.js <<'END'
imports.gi.versions.Gtk = '4.0';
const {Gtk, GLib, Gio} = imports.gi;
const System = imports.system;
Gtk.init();
const loop = new GLib.MainLoop(null, false);
const area = new Gtk.DrawingArea();
const window = new Gtk.Window({child: area, defaultWidth: 100, defaultHeight: 100});
const now = () => GLib.get_monotonic_time() / 1000;
function busy(ms) {
    const begin = now();
    let x = 0;
    while (now() < begin + ms)
        for (let i = 0; i < 2000; i++)
            x = x * 31 + i & 0xffff;
    return x;
}
function timed(name, f) {
    const begin = now();
    f();
    print(name, (now() - begin).toFixed(1));
}
const heap = [];
for (let i = 0; i < 300000; i++)
    heap.push({i, list: [i, {}, {}]});
const [, , stdin, stdout] = GLib.spawn_async_with_pipes(null,
    ['sh', '-c', 'read line; sleep 0.2; echo'], null, GLib.SpawnFlags.SEARCH_PATH, null);
const asks = new Gio.UnixOutputStream({fd: stdin, closeFd: true});
const pipe = new Gio.UnixInputStream({fd: stdout, closeFd: true});
let frames = 0;
function twenty() {
    timed('twenty', () => busy(20));
    return false;
}
function reads() {
    asks.write('\n', null);
    timed('reads', () => pipe.read_bytes(1, null));
    return false;
}
function collects() {
    timed('collects', () => System.gc());
    return false;
}
area.add_tick_callback(function onTick() {
    area.queue_draw();
    if (++frames === 60)
        timed('fifty', () => busy(50));
    if (frames === 80)
        GLib.idle_add(GLib.PRIORITY_HIGH, twenty);
    if (frames === 100)
        GLib.timeout_add(GLib.PRIORITY_HIGH, 1, reads);
    if (frames === 140)
        GLib.idle_add(GLib.PRIORITY_HIGH, collects);
    if (frames === 160)
        loop.quit();
    return true;
});
area.set_draw_func(function draw() {
    if (frames === 120)
        timed('twohundred', () => busy(200));
});
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, function quick() {
    return true;
});
window.present();
loop.run();
END

recorded() # PROGRAM...
{
    rm -f cap
    JSPROF_SOURCE=looker GDK_BACKEND=x11 GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1 timeout 60 \
        xvfb-run -a -s '-screen 0 640x480x24' "$@" >out 2>err
    cat out err
    [ "$(wc -l <out)" = 5 ] && whole cap &&
        "$JSPROF_TOOL" stalls --vm --each --over 16ms --csv cap | tr -d '"' >all
}

# One stall of the capture is of that, and as long as the program says. Where that is twice what was
# meant, the machine was busy: then samples may be too few to name a cause.
found() # NAME MS CAUSE FUNCTION TASK
{
    found_ms=$(sed -n "s/^$1 //p" out)
    found_cause="$3,$4 [(]stalls.js:[^,]*"
    found_most=1
    [ "${found_ms%.*}" -lt $((2 * $2)) ] || found_cause="($found_cause|[a-z]*,[^,]*)" found_most=99
    awk -F , -v ms="$found_ms" -v most=$found_most -v re="$found_cause,[^,]*,$5( |,)" '
        $0 ~ re && $2 / 1e6 >= ms - 1 && $2 / 1e6 < ms + 100 { n++ }
        END {
            if (n >= 1 && n <= most)
                exit 0
            print n + 0, "stalls of", ms, "ms:", re
            exit 1
        }' all
}

# A turn that waited for a processor, or a frame that waited for the display, is a true stall of a
# busy machine: no function of the program is its cause.
none_invented()
{
    awk -F , 'NR > 1 && $3 != "processor" && $4 ~ /stalls.js:/ && $4 !~ /^(busy|reads|collects)/ {
            print; n++ }
        END { exit n + 0 }' all
}

found_all() # PROGRAM...
{
    recorded "$@" && cat all &&
        found twenty 20 '(function|processor)' 'busy' 'GLib.idle_add,twenty' &&
        found fifty 50 '(function|processor)' 'busy' 'GTK,frame' &&
        found twohundred 200 '(function|processor)' 'busy' 'GTK,frame' &&
        found reads 200 blocking 'reads[^,]*' 'GLib.timeout_add,reads' &&
        found collects 500 '(collection|processor)' 'collects[^,]*' 'GLib.idle_add,collects' &&
        none_invented
}

# The callbacks of a frame are tasks inside its phase.
framed()
{
    "$JSPROF_TOOL" loop --limit 0 --csv cap | tr -d '"' >loop
    cat loop
    runs=$(sed -n 's/^GTK,frame,1,\([0-9]*\),.*/\1/p' loop)
    [ "$runs" -ge 160 ] &&
        grep -q '^Gtk.Widget.add_tick_callback,onTick (stalls.js:[0-9]*),1,160,' loop &&
        grep -q '^Gtk.DrawingArea.set_draw_func,draw (stalls.js:' loop &&
        grep -q "^GTK,Update,1,$runs," loop && grep -q "^GTK,Paint,1,$runs," loop
}

for program in gjs-console jsprof-gjs; do
    UNDER=$program
    record="$B/bin/$program --profile-output=cap --profile-clock=wall --profile-tasks"
    [ $program = gjs-console ] || record="$record -- gjs-console"
    # shellcheck disable=SC2086
    check 'each stall is found, and no other' found_all $record stalls.js
    check 'frames are tasks, with their phases and callbacks' framed
done
finish
