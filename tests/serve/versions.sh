#!/bin/sh
# serve/versions.sh - a command and a process of different versions of the library: what both know
# works, and what the older one does not know is one clear line.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
spin_lark
start "$B/bin/lark" --profile-control spin.lark

# A command that is older: what it sends, to the library of today.
python3 -B "$SRCDIR/tests/serve/old_client.py" "$XDG_RUNTIME_DIR/jsprof/$pid.sock" old.cap ||
    { ran='an older command'; : >out; : >err; wrong 'is not understood'; }
is_whole old.cap
stop $pid

# A library that is older, or of another protocol.
peer() # HOW
{
    rm -f host.out
    python3 -B "$SRCDIR/tests/serve/old_library.py" "$1" old.cap >host.out 2>host.err &
    pid=$!
    pids="$pids $pid"
    until [ -s host.out ] || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
}
is_line() # TEXT
{
    is_rc 1
    says "$1"
    [ "$(wc -l <err)" = 1 ] || wrong 'says more than one line'
}
peer old
run ps --csv
grep -q "^$pid,1,ready," out || wrong 'does not list it'
run record --seconds 0.2 -o new.cap $pid
is_rc 0
says "new.cap: 7 samples of process $pid (older); 1 of 8 expirations lost"
cmp -s old.cap new.cap || wrong 'has another capture'
run top --once --seconds 0.2 $pid
is_rc 0
has spin
run dump $pid
is_rc 0
older="process $pid (older): its library is older than this command, and knows no such request"
for words in '--stalls 16ms' --tasks --alloc; do
    run record $words -o none.cap $pid
    is_line "$older"
done
run calls --on $pid
is_line "$older"
stop $pid

# Lines and keys that are not known are ignored.
peer new
run ps --csv
grep -q "^$pid,1,ready," out || wrong 'does not list it'
run record --seconds 0.2 -o new.cap $pid
is_rc 0
says "new.cap: 7 samples of process $pid (newer)"
run calls --on $pid
is_line "process $pid (newer): it counts no calls today"
stop $pid

# Another protocol.
peer other
run ps --csv
is_rc 0
grep -q "^$pid,.*silent" out || wrong 'does not list it as one that gives no answer'
run record --seconds 0.2 -o none.cap $pid
is_rc 1
says "process $pid"
[ "$(wc -l <err)" = 1 ] || wrong 'says more than one line'
[ "$(echo none.cap*)" = 'none.cap*' ] || wrong "leaves $(echo none.cap*)"
exit $bad
