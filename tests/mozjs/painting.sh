#!/bin/sh
# painting.sh - the frames of a GTK 4 program are marks, and those that it missed are counted, as
# the program counts them itself.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

need_gtk

# An animation of 40 frames. Within every eighth frame it computes for 100 ms, and after two of the
# others a timeout does. It prints the number of frames that it saw, and of those that it missed
# by the clock's time.
cat >skips.js <<'END'
imports.gi.versions.Gtk = '4.0';
const {Gtk, GLib} = imports.gi;
function busy(ms) {
    const end = GLib.get_monotonic_time() + 1000 * ms;
    while (GLib.get_monotonic_time() < end);
}
Gtk.init();
const loop = new GLib.MainLoop(null, false);
const area = new Gtk.DrawingArea();
const window = new Gtk.Window({child: area, defaultWidth: 100, defaultHeight: 100});
let frames = 0, missed = 0, last = 0;
area.add_tick_callback((widget, clock) => {
    const now = clock.get_frame_time();
    if (last)
        missed += Math.max(0, Math.floor((now - last + 8333) / 16667) - 1);
    last = now;
    if (++frames % 8 === 0)
        busy(100);
    if (frames === 11 || frames === 21)
        GLib.timeout_add(GLib.PRIORITY_HIGH, 0, () => { busy(100); return false; });
    area.queue_draw();
    if (frames < 40)
        return true;
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 300, () => { loop.quit(); return false; });
    return false;
});
window.present();
loop.run();
print(frames, missed);
END

# Windows that it closes while they are animated, each some time after the last, and then more
# than 16 that are open at once.
cat >windows.js <<'END'
imports.gi.versions.Gtk = '4.0';
const {Gtk, GLib} = imports.gi;
Gtk.init();
const loop = new GLib.MainLoop(null, false);
const later = (ms, f) => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, () => { f(); return false; });
let windows = 0, open = [];
function show() {
    const area = new Gtk.DrawingArea();
    const window = new Gtk.Window({child: area, defaultWidth: 100, defaultHeight: 100});
    let frames = 0;
    area.add_tick_callback(() => {
        area.queue_draw();
        if (++frames === 3)
            later(1, () => windows > 10 ? open.push(window) : window.destroy());
        return windows <= 10;
    });
    window.present();
    later(windows < 10 ? 200 : 50, ++windows < 30 ? show : () => later(500, () => loop.quit()));
}
show();
loop.run();
print(windows);
END

started() # PROGRAM...
{
    rm -f cap
    GDK_BACKEND=x11 GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1 timeout 60 \
        xvfb-run -a -s '-screen 0 640x480x24' "$@" >out 2>err
    cat out err
}

recorded() # PROGRAM...
{
    started "$@"
    read -r frames missed <out
    [ "$frames" = 40 ] && [ "$missed" -ge 15 ] && whole cap &&
        "$JSPROF_TOOL" list --csv cap >list
    cat list
}

# How many marks have this name?
number()
{
    sed -n "s/^mark,\"GTK\",\"$1\",\([0-9]*\),.*/\1/p" list
}

# The window itself may paint a few frames before and after the animation.
painted()
{
    n=$(number Frame)
    echo "$n of $frames"
    [ "$n" -ge "$frames" ] && [ "$n" -le $((frames + 10)) ] &&
        [ "$(number Update)" -ge "$frames" ] && [ "$(number Layout)" -ge 1 ] &&
        [ "$(number Paint)" -ge "$frames" ]
}

# Frames in which the program computes, in the phase of tick callbacks, take as long as that.
long()
{
    "$JSPROF_TOOL" dump cap | grep -E 'MARK +(0\.[1-9]|[1-9])[0-9.]* s GTK / ' >long
    cat long
    [ "$(grep -c 'Frame frame' long)" -ge 5 ] && [ "$(grep -c Update long)" -ge 5 ]
}

# What the marks say, what the counter says, and what the program says.
missing()
{
    marked=$("$JSPROF_TOOL" dump cap | sed -n 's/.*GTK \/ Missed \([0-9]*\) before frame.*/\1/p' |
        awk '{ n += $1 } END { print n + 0 }')
    counted=$(awk -F, '/^counter,"GTK","Missed frames",/ { print $11 }' list)
    echo "marks $marked, counter $counted, program $missed"
    [ "$marked" = "$missed" ] && [ "$counted" = "$missed" ]
}

# Each window has a clock of its own, whose first frame is number 0.
closed() # PROGRAM...
{
    started "$@"
    "$JSPROF_TOOL" list --messages --csv cap >list && cat list &&
        grep -q "^mark,\"GTK\",\"Frame\",\"frame 0\",$(cat out)," list &&
        ! grep -q 'Missed","[0-9]* before frame 0"' list
}

for program in gjs-console jsprof-gjs; do
    UNDER=$program
    record="$B/bin/$program --profile-output=cap"
    [ $program = gjs-console ] || record="$record -- gjs-console"
    # shellcheck disable=SC2086
    check 'a program that skips frames is recorded' recorded $record skips.js
    check 'each frame is a mark, with its phases' painted
    check 'a long frame is a long mark' long
    check 'missed frames are those that the program missed' missing
    # shellcheck disable=SC2086
    check 'a new window, of many, has missed none' closed $record windows.js
done
finish
