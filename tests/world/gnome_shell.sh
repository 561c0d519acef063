#!/bin/sh
# gnome_shell.sh - jsprof-gjs records gnome-shell itself: functions that run in it have the time
# that they measure, stacks are whole, its scripts have their names, and an extension's marks are
# there. Each frame that takes too long is a stall with the extension's function.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/mozjs/lib.sh"
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

# Print, for each function and for `turn`, which calls them all, the samples, their milliseconds,
# those that it measured, and those that may be another function's. On a busy machine a look
# comes late. Then the time since the last look is weight of samples within the next 20 ms.
# So these have, after a gap of more than two periods, perhaps time of the gap.
measure() # CAPTURE
{
    "$JSPROF_TOOL" dump "$1" | awk '
        function add_sample(    gap, i) {
            if (is == "") { last = ""; return }
            n[is]++
            ms[is] += weight
            ran += last == "" ? 0 : now - before
            for (i in ended)
                if (ran - ended[i] > 20) delete ended[i]
                else if (is != last) moved[is] += gaps[i]
            gap = (last == "" ? cpu_ns / 1e6 : now - before) - 2
            if (gap > 0) {
                moved[is] += gap
                if (last != "" && is != last) moved[last] += gap
                gaps[++n_gaps] = gap
                ended[n_gaps] = ran
            }
            last = is
            before = now
        }
        NR == FNR { us["one"] = $2; us["two"] = $3; us["four"] = $4; next }
        / SAMPLE / {
            if (seen) add_sample()
            seen = $7 == $3 # the main thread
            is = ""
            now = 1000 * $2
            match($0, /weight [0-9]+/)
            weight = substr($0, RSTART + 7, RLENGTH - 7)
            match($0, /cpu_ns [0-9]+/)
            cpu_ns = substr($0, RSTART + 7, RLENGTH - 7)
        }
        is == "" && /^    e[0-9a-f]+  (one|two|four) [(]/ { is = $2 }
        END {
            if (seen) add_sample()
            for (is in us) {
                print is, n[is] + 0, ms[is] + 0, us[is] / 1000, moved[is] + 0
                all_n += n[is]; all_ms += ms[is]; all_us += us[is]
            }
            print "turn", all_n, all_ms, all_us / 1000, 0
        }' work.out - >measured
    cat measured
}

# The difference between samples and the function's own time is within chance: 20 times each, its
# begin and its end lie anywhere between two ticks of 1 ms. And 4 % for times when the machine
# did not let it run.
timed() # FUNCTION
{
    awk -v name="$1" '
        $1 == name {
            chance = 5 * sqrt(20 / 6) + 0.04 * $4 + $5
            printf "%s: %d samples, %.0f ms of %.0f, chance %.0f, late looks %.0f\n",
                $1, $2, $3, $4, chance, $5
            is_near = $4 > 0 && $3 - $4 < chance && $4 - $3 < chance
        }
        END { exit !is_near }' measured
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
measure cap
check 'it works while it is recorded' test -s work.out
check 'and ends as it does otherwise' test "$(cat session.rc)" = "$stock"
check 'the capture is whole' whole cap
for name in one two four; do
    check "$name: its time is what it measures" timed $name
done
check 'and so is the time of all of them' timed turn
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
