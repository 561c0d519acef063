#!/bin/sh
# serve/top.sh - jsprof top with a Lark program that runs: on a terminal, into a pipe, and with a
# process that ends.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
lark="$B/bin/lark"

spin_and_rest_lark
start "$lark" --profile-control spin.lark
python3 -B "$SRCDIR/tests/serve/top.py" "$jsprof" $pid
run report saved.cap
is_rc 0
has 'spin (spin.lark:1)'

# On terminals of odd sizes; of names with control bytes.
plain=$pid
start "$B/tests/fault/listen_host" hangs names
python3 -B "$SRCDIR/tests/serve/sizes.py" "$jsprof" $plain $pid

# A process that ends while a small terminal shows it.
cat >ends.py <<'END_OF_PROGRAM'
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from terminal import Terminal, check
jsprof, pid = sys.argv[2:]
t = Terminal([jsprof, "top", "--delay", "0.2", pid], 4, 12)
t.wait("cpu")
os.kill(int(pid), signal.SIGKILL)
check(t.end() == 1, "does not fail when the process has ended")
rest = t.all.split("\x1b[?1049l")[-1]
check("process %s (listen_host) ended the recording" % pid in rest, "says %r" % rest)
END_OF_PROGRAM
python3 -B ends.py "$SRCDIR/tests/serve" "$jsprof" $pid
pid=$plain

# Into a pipe: one table without escapes.
run top --seconds 1 $pid
is_rc 0
has 'spin (spin.lark:1)'
! grep -q "$(printf '\033')" out || wrong 'prints escapes into a pipe'
[ "$(grep -c SELF out)" = 1 ] || wrong 'prints several tables'
run top --once --seconds 2 --by thread --csv $pid
is_rc 0
grep -q '^"[0-9]* main' out || grep -q main out || wrong 'has no thread'
run top --once --seconds 2 --by line --only spin --json $pid
is_rc 0
python3 -B - out <<'END_OF_CHECK' || wrong 'has other figures'
import json
import sys
d = json.load(open(sys.argv[1]))
assert d["command"] == "top" and 0.3 < d["seconds"] < 60, d
assert 0 <= d["load"] and 0 <= d["gc"] <= 1 and d["samples"] > 0, d
assert sum(row["self"] for row in d["rows"]) == d["value"], d
assert all("spin.lark" in row["name"] or row["total_share"] <= 1 for row in d["rows"]), d
END_OF_CHECK

# Wrong words.
for words in '--delay 0' '--seconds x' '--by nothing' '--sort nothing' '--hz 0' '--csv --json' \
    '--native --vm'; do
    # shellcheck disable=SC2086
    run top $words $pid
    is_rc 2
done
run top --once --only '(' $pid
is_rc 1
run top
is_rc 2
run top 999999999
is_rc 1
says 'jsprof: top: there is no process 999999999'

# The process ends the recording after ten minutes, in case nobody looks any more.
cat >library.py <<'END_OF_LIBRARY'
import os
import socket
folder = os.environ["XDG_RUNTIME_DIR"] + "/jsprof"
listener = socket.socket(socket.AF_UNIX)
listener.bind(folder + "/%d.sock" % os.getpid())
listener.listen(8)
print("listens", flush=True)
asked = ""
while "record" not in asked:
    peer = listener.accept()[0]
    asked = peer.recv(512).decode()
    peer.sendall(b"pid %d\nhost fake\nsession 1 state=ready\nend\n" % os.getpid())
    peer.close()
print(asked)
END_OF_LIBRARY
python3 -B library.py >library.out &
library=$!
pids="$pids $library"
until [ -s library.out ]; do sleep 0.05; done
run top --once --seconds 0.5 $library
wait $library || wrong 'the library fails'
grep -q ' ms=605000 ' library.out || wrong 'has no bound for a view that nobody looks at'

# The process ends, perhaps before it has written anything.
"$jsprof" top --once --seconds 30 $pid >out 2>err &
top=$!
until "$jsprof" ps --csv | grep -q ",recording,"; do sleep 0.05; done
kill -KILL $pid
rc=0
wait $top || rc=$?
ran='top of a process that is killed'
[ $rc = 0 ] || says 'jsprof: top: process'
exit $bad
