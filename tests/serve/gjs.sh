#!/bin/sh
# serve/gjs.sh - a GJS program that listens is listed, recorded, recorded again and dumped.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
[ -x "$B/bin/gjs-console" ] || { echo 'SKIP: needs libgjs-dev and libmozjs-dev'; exit 77; }

cat >loop.js <<'END_OF_PROGRAM'
function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
const GLib = imports.gi.GLib;
const loop = new GLib.MainLoop(null, false);
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => { spin(3000000); return true; });
loop.run();
END_OF_PROGRAM
JSPROF_CONTROL=0 "$B/bin/gjs-console" loop.js &
silent=$!
pids="$pids $silent"
JSPROF_CONTROL=1
export JSPROF_CONTROL
start "$B/bin/gjs-console" loop.js
unset JSPROF_CONTROL
run ps --csv
! grep -q "^$silent," out || wrong 'lists one that does not listen'
grep -q "^$pid,.*SpiderMonkey [1-9][0-9.]*" out || wrong 'does not name the engine'
stop $silent
# The second file has the names that the binding gave before the first one.
for n in 1 2; do
    run record --seconds 1 -o $n.cap $pid
    is_rc 0
    is_whole $n.cap
    run report $n.cap
    is_rc 0
    has 'spin (loop.js:1'
done
run top --once --seconds 1 $pid
is_rc 0
has 'spin (loop.js:1'
run dump $pid
is_rc 0
has 'loop.js'
stop $pid

# The distribution's own gjs, with our library loaded into it.
if [ -x "$B/bin/jsprof-gjs" ] && command -v gjs >/dev/null; then
    JSPROF_CONTROL=1
    export JSPROF_CONTROL
    start "$B/bin/jsprof-gjs" gjs loop.js
    unset JSPROF_CONTROL
    run record --seconds 1 -o own.cap $pid
    is_rc 0
    is_whole own.cap
    run report own.cap
    has 'spin (loop.js:1'
fi
exit $bad
