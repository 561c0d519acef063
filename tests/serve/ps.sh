#!/bin/sh
# serve/ps.sh - jsprof ps beside 10,000 sockets that nobody listens on, beside processes that are
# stopped and whose sockets are full, and two recorders at once.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
host="$B/tests/fault/listen_host"
start "$host" sleep 1
alive=$pid

# A host whose options come from the environment names its interpreter, too.
if [ -x "$B/bin/lark" ]; then
    echo 'while 1 < 2 { }' >loop.lark
    JSPROF_CONTROL=1
    export JSPROF_CONTROL
    start "$B/bin/lark" loop.lark
    unset JSPROF_CONTROL
    run ps --csv
    grep -q "^$pid,.*\"Lark 0" out || wrong 'does not name the interpreter of Lark'
    stop $pid
fi

# Killed processes leave their sockets. The first look removes them, in little more time than it
# took to make them.
cat >many.py <<'END_OF_PROGRAM'
# Makes sockets that nobody listens on, and then calls jsprof ps twice. Arguments: jsprof, the
# folder, how many.
import os, socket, subprocess, sys, time

jsprof, folder, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.chdir(folder)
began = time.monotonic()
for i in range(n):
    s = socket.socket(socket.AF_UNIX)
    s.bind("%d.sock" % (5000000 + i))
    s.close()
took = [time.monotonic() - began]
for _ in range(2):
    began = time.monotonic()
    out = subprocess.run([jsprof, "ps", "--csv"], check=True, capture_output=True, text=True)
    took.append(time.monotonic() - began)
    assert len(out.stdout.splitlines()) == 2 and not out.stderr, out
print("%d sockets in %.2f s; ps in %.2f s, and then in %.3f s" % (n, *took))
assert took[1] < max(10, 10 * took[0]), took
assert len(os.listdir(".")) == 1, len(os.listdir("."))
END_OF_PROGRAM
ran='ps beside stale sockets'
: >err
python3 -B many.py "$jsprof" "$XDG_RUNTIME_DIR/jsprof" 10000 >out 2>err ||
    wrong 'is slow or leaves some'
cat out

# What is no socket of ours is left where it is.
: >"$XDG_RUNTIME_DIR/jsprof/notes.txt"
run ps --csv
is_rc 0
[ "$(wc -l <out)" = 2 ] || wrong 'lists other processes'
[ -e "$XDG_RUNTIME_DIR/jsprof/notes.txt" ] || wrong 'removes a file that is not ours'

# Processes that are stopped, with more connections than their sockets take: a second for all
# of them, not for each.
stopped=
for _ in 1 2 3 4 5 6 7 8; do
    start "$host" sleep 1
    stopped="$stopped $pid"
done
# shellcheck disable=SC2086
kill -STOP $stopped
cat >full.py <<'END_OF_PROGRAM'
# Fills the queues of these sockets, and calls jsprof ps. Arguments: jsprof, the sockets.
import socket, subprocess, sys, time

jsprof, *paths = sys.argv[1:]
kept = []
for path in paths:
    try:
        while True:
            s = socket.socket(socket.AF_UNIX)
            s.setblocking(False)
            s.connect(path)
            kept.append(s)
    except BlockingIOError:
        pass
began = time.monotonic()
out = subprocess.run([jsprof, "ps", "--csv"], check=True, capture_output=True, text=True)
took = time.monotonic() - began
print(out.stdout, end="")
print("%d stopped processes: %.2f s" % (len(paths), took))
assert took < len(paths), took
END_OF_PROGRAM
ran='ps beside stopped processes'
sockets=
for p in $stopped; do sockets="$sockets $XDG_RUNTIME_DIR/jsprof/$p.sock"; done
# shellcheck disable=SC2086
python3 -B full.py "$jsprof" $sockets >out 2>err || wrong 'waits for each of them'
tail -1 out
for p in $stopped; do
    grep -q "^$p,[0-9]*,silent," out || grep -q "^$p,.*silent" out || wrong "does not list $p"
done
grep -q "^$alive,1,ready," out || wrong 'does not list the one that answers'
# shellcheck disable=SC2086
kill -KILL $stopped

# Two recorders at once, again and again: one records, and the other one gets a clear no.
for _ in 1 2 3; do
    "$jsprof" record --seconds 0 -o one.cap $alive 2>one.err &
    one=$!
    "$jsprof" record --seconds 0 -o two.cap $alive 2>two.err &
    two=$!
    until grep -q 'another command records this process' one.err two.err; do
        kill -0 $one && kill -0 $two || break
        sleep 0.05
    done
    until "$jsprof" ps --csv | grep -q "^$alive,1,recording,"; do sleep 0.05; done
    kill -TERM $one $two 2>/dev/null || :
    good=0
    for p in $one $two; do
        rc=0
        wait $p || rc=$?
        [ $rc = 1 ] || [ $rc = 0 ] || wrong "exit status $rc"
        [ $rc = 1 ] || good=$((good + 1))
    done
    cat one.err two.err >err
    : >out
    ran='two recorders at once'
    [ $good = 1 ] || wrong "$good of them recorded"
    [ "$(wc -l <err)" = 2 ] || wrong 'not a line of each'
    says "process $alive (listen_host): another command records this process"
    [ "$(echo one.cap* two.cap*)" = 'one.cap two.cap*' ] ||
        [ "$(echo one.cap* two.cap*)" = 'one.cap* two.cap' ] || wrong 'has other files'
    for f in one.cap two.cap; do [ ! -e $f ] || is_whole $f; done
    rm -f one.cap two.cap
done
exit $bad
