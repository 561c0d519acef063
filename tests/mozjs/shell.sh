#!/bin/sh
# shell.sh - jsprof-gjs records gnome-shell itself: functions that run in it have the time that they
# measure, stacks are whole, its scripts have their names, and an extension's marks are there. Each
# frame that takes too long is a stall with the extension's function.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

for tool in gnome-shell dbus-run-session; do
    command -v $tool >/dev/null || { echo 'SKIP: needs gnome-shell dbus'; exit 77; }
done

# An extension. When the shell has started, its functions work in the shell's own main loop, 20
# times each, for 10, 20 and 40 ms. It also works for 80 ms in some frames. It prints the
# microseconds that they took, by the clock, and the number of these frames, and ends the process:
# in order some versions of the shell crash.
mkdir -p home/.local/share/gnome-shell/extensions/work@jsprof home/.config/glib-2.0/settings
extension=home/.local/share/gnome-shell/extensions/work@jsprof
version=$(gnome-shell --version | sed 's/^[^0-9]*//; s/[.].*//')
cat >$extension/metadata.json <<END
{"uuid": "work@jsprof", "name": "work", "description": "works", "shell-version": ["$version"]}
END
cat >home/.config/glib-2.0/settings/keyfile <<'END'
[org/gnome/shell]
enabled-extensions=['work@jsprof']
welcome-dialog-last-shown-version='999'
END
cat >work.js <<'END'
const now = () => GLib.get_monotonic_time();
const spent = {one: 0, two: 0, four: 0};
function spin(ms) {
    const end = now() + 1000 * ms;
    let x = 0;
    while (now() < end)
        for (let i = 0; i < 2000; i++)
            x = x * 31 + i & 0xffff;
    return x;
}
function one() { return spin(10); }
function two() { return spin(20); }
function four() { return spin(40); }
const {mark, counter, now: time} = imports.jsprof;
let turns = 0, late = 0, worked = 0;
function frame() {
    if (turns > worked && turns > 6 && late < 5) {
        worked = turns;
        late++;
        spin(80);
    }
}
function turn() {
    const begun = time();
    global.stage.queue_redraw();
    for (const part of [one, two, four]) {
        const begin = now();
        part();
        spent[part.name] += now() - begin;
    }
    mark('turn', null, begun);
    counter('turns', turns);
    if (++turns < 20)
        return GLib.SOURCE_CONTINUE;
    print(`worked ${spent.one} ${spent.two} ${spent.four} ${late}`);
    System.exit(0);
}
function work() {
    global.stage.connect('before-paint', frame);
    GLib.timeout_add(GLib.PRIORITY_DEFAULT, 120, turn); /* frames are of a lower priority */
}
END
if [ "$version" -ge 45 ]; then
    {
        echo "import GLib from 'gi://GLib'; import System from 'system';"
        cat work.js
        echo 'export default class { enable() { work(); } disable() {} }'
    } >$extension/extension.js
else
    {
        echo 'const {GLib} = imports.gi; const System = imports.system;'
        cat work.js
        echo 'function init() { return {enable: work, disable() {}}; }'
    } >$extension/extension.js
fi

export SRCDIR
# A session of its own: a bus, which is also its system bus, where nobody answers for logind; a home
# and a folder for sockets.
cat >session.sh <<'END'
export DBUS_SYSTEM_BUS_ADDRESS="$DBUS_SESSION_BUS_ADDRESS" HOME="$PWD/home" \
    GJS_PATH="$SRCDIR/bindings/mozjs" XDG_RUNTIME_DIR="$PWD/run" \
    GSETTINGS_BACKEND=keyfile LIBGL_ALWAYS_SOFTWARE=1
unset XDG_CONFIG_HOME XDG_DATA_HOME
exec "$@" gnome-shell --headless --wayland --no-x11 --virtual-monitor 1280x720
END

session() # COMMAND...: run the shell by this command
{
    rm -rf run
    mkdir -m 700 run
    timeout 200 dbus-run-session -- sh session.sh "$@" >shell.out 2>&1
    echo $? >session.rc
    grep '^worked' shell.out >work.out
}

# The difference between samples and the function's own time is within chance: 20 times each, its
# begin and its end lie anywhere between two ticks of 1 ms. And 3 % for times when the machine
# did not let it run.
timed() # FUNCTION MICROSECONDS
{
    stacks cap '' weights | RE="^$1 [(]" awk -F '\t' -v us="$2" '
        BEGIN { re = ENVIRON["RE"] }
        { for (f = 2; f <= NF; f++) if ($f ~ re) { ms += $1; n++; break } }
        END {
            chance = 5 * sqrt(20 / 6) + 0.03 * us / 1000
            printf "%d samples, %.0f ms of %.0f, chance %.0f\n", n, ms, us / 1000, chance
            exit !(us > 0 && ms - us / 1000 < chance && us / 1000 - ms < chance)
        }'
}

whole_stacks() # CAPTURE
{
    "$JSPROF_TOOL" info "$1" | awk '
        /^  C stacks/ { print; sub(/>/, "", $3); n = $3 + 0 }
        END { exit !(n >= 99.5) }'
}

session
if [ ! -s work.out ]; then
    echo "SKIP: gnome-shell can not run here: $(tail -n 1 shell.out)"
    exit 77
fi
stock=$(cat session.rc)
session "$B/bin/jsprof-gjs" --profile-clock=wall --profile-tasks --profile-output="$PWD/cap" --
check 'it works while it is recorded' test -s work.out
check 'and ends as it does otherwise' test "$(cat session.rc)" = "$stock"
check 'the capture is whole' whole cap
read -r _ one two four _ <work.out
check 'one: its time is what it measures' timed one "$one"
check 'two: its time is what it measures' timed two "$two"
check 'four: its time is what it measures' timed four "$four"
check '99.5 % of the C stacks are whole' whole_stacks cap
"$JSPROF_TOOL" list --csv cap >list
check "the extension's marks" grep -Eq '^mark,"JavaScript","turn",20,[1-9][0-9]{9},' list
check 'and its counter' grep -q '^counter,"JavaScript","turns",20,' list
"$JSPROF_TOOL" report --csv --limit=0 cap >report.csv
check "the shell's own scripts have their names" \
    grep -q 'resource:///org/gnome/shell/ui/main.js' report.csv
"$JSPROF_TOOL" report --csv --native --limit=0 cap >native.csv
check 'and the C functions below them' \
    grep -Eq '^"?(meta_context_run_main_loop|g_main_loop_run)' native.csv

# All that took longer than a frame, by what the shell called: `turn` 20 times for 70 ms and
# more, of which the last one, which ends the shell, once had no task on 128; and the frames in
# which the extension works longer than the shell paints.
late_frames()
{
    "$JSPROF_TOOL" stalls --each --vm --over 16.7ms --csv --limit 0 cap | tr -d '"' >stalls
    read -r _ _ _ _ late <work.out
    grep extension.js stalls
    awk -F , -v late="$late" '
        $4 ~ /^(spin|now) .*extension.js/ && $6 == "GLib.timeout_add" &&
            $7 ~ /^turn .*extension.js/ && $2 >= 70e6 { turns++ }
        $4 ~ /^(spin|now) .*extension.js/ && $6 == "Clutter" && $7 == "frame" && $2 >= 80e6 {
            frames++ }
        END { print turns + 0, "of 20 turns,", frames + 0, "of", late, "frames"
              exit !(turns >= 19 && late > 0 && frames == late) }' stalls
}
check 'each late frame has its function' late_frames
finish
