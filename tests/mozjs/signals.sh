#!/bin/sh
# signals.sh - handlers of GObject's signals are tasks if asked for: each ran as often as the script
# says, has its signal and its function, and is caused by what emitted it, or else connected it.
# And a timer's delay is how much later than asked it ran.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# A signal of a class of the script's, a detailed one of GObject's, one that is disconnected, one
# whose handler throws, and one that emits another. It prints how often each handler ran.
cat >signals.js <<'END'
const {GObject, GLib} = imports.gi;
const System = imports.system;
const ran = {};
const count = name => (ran[name] = (ran[name] || 0) + 1);
const Door = GObject.registerClass({
    GTypeName: 'Door',
    Properties: {title: GObject.ParamSpec.string('title', '', '',
        GObject.ParamFlags.READWRITE, '')},
    Signals: {opened: {}, bell: {param_types: [GObject.TYPE_INT], return_type: GObject.TYPE_INT}},
}, class Door extends GObject.Object {});
const door = new Door();
function onOpened() {
    count('onOpened');
    door.notify('title');
}
function onTitle() { count('onTitle'); }
function onBell(self, n) { count('onBell'); return n + 1; }
function onGone() { count('onGone'); }
door.connect('opened', onOpened);
door.connect('notify::title', onTitle);
door.connect('bell', onBell);
const gone = door.connect('opened', onGone);
door.emit('opened');
door.disconnect(gone);
const loop = GLib.MainLoop.new(null, false);
let n = 0;
let late = 0, due = GLib.get_monotonic_time() / 1000 + 200;
function emits() {
    const now = GLib.get_monotonic_time() / 1000;
    late = Math.max(late, now - due);
    due = now + 200;
    count('emits');
    if (door.emit('bell', n) !== n + 1)
        throw new Error('wrong');
    door.emit('opened');
    if (++n === 5) {
        loop.quit();
        return GLib.SOURCE_REMOVE;
    }
    return GLib.SOURCE_CONTINUE;
}
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 200, emits);
for (let i = 0; i < 200; i++)
    new Door().connect('opened', () => {});
System.gc();
loop.run();
for (const name in ran)
    print(name, ran[name]);
print('late', late);
END

recorded() # PROGRAM...
{
    rm -f cap
    timeout 60 "$@" >log 2>err
    status=$?
    cat err log
    [ $status = 0 ] && [ ! -s err ] && [ "$(grep -c . log)" = 6 ] && whole cap &&
        "$JSPROF_TOOL" loop --limit 0 --csv cap | tr -d '"' >loop
}

row() # KIND NAME: its row
{
    awk -F, -v kind="$1" -v name="$2 (signals.js:" '$1 == kind && index($2, name) == 1' loop
}

as_often() # KIND NAME
{
    row "$1" "$2" >row
    [ "$(awk -F, '{ print $4 }' row)" = "$(awk -v name="$2" '$1 == name { print $2 }' log)" ]
}

counted()
{
    cat loop
    as_often Door::opened onOpened && as_often GObject::notify::title onTitle &&
        as_often Door::bell onBell && as_often Door::opened onGone &&
        as_often GLib.timeout_add emits
}

# A handler's cause is the handler, or the timeout, that emitted its signal, and it was made
# where it was connected.
chained()
{
    "$JSPROF_TOOL" causes --limit 0 cap onTitle | tee causes
    grep -q 'made in Door.connect(.notify::title.)' causes &&
        grep -q 'made ready by Door::opened onOpened (signals.js:' causes || return 1
    "$JSPROF_TOOL" causes --limit 0 cap onBell | tee causes
    grep -q 'made ready by GLib.timeout_add emits (signals.js:' causes
}

# A timer was late by what the script says, and not by the 200 ms for which it was asked, too. The
# machine must stop the program for 150 ms between two looks at the clock before that fails.
timely()
{
    row GLib.timeout_add emits | tee row &&
        awk -F, -v late="$(sed -n 's/^late //p' log)" '
            NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } index($2, "emits (") == 1 {
                print "late", late
                seen = $at["delays"] == 5 && $at["delay_max_ns"] < (late + 150) * 1e6 }
            END { exit !seen }' loop
}

# Without a request the handlers are no tasks, and what they emit nothing.
off()
{
    "$GJS" --profile-output=cap --profile-tasks signals.js >log &&
        "$JSPROF_TOOL" loop --limit 0 --csv cap | tr -d '"' >loop && cat loop &&
        grep -q '^GLib.timeout_add,emits' loop && ! grep '::' loop
}

by_environment()
{
    rm -f cap
    JSPROF=cap JSPROF_TASKS=signals "$GJS" signals.js >log &&
        "$JSPROF_TOOL" loop --limit 0 --csv cap | tr -d '"' >loop && counted
}

for program in gjs-console jsprof-gjs; do
    UNDER=$program
    stock=
    [ $program = gjs-console ] || stock="-- gjs-console"
    # shellcheck disable=SC2086
    check 'a program with signals' recorded "$B/bin/$program" --profile-output=cap \
        --profile-tasks=signals $stock signals.js
    check 'each handler ran as often as it says' counted
    check 'what emitted it is its cause' chained
    check 'a delay is what a timer was late' timely
done
UNDER=
check 'without a request no handler is a task' off
check 'the environment asks' by_environment
finish
