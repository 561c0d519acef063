#!/bin/sh
# serve/many.sh - what listening costs while nobody asks: no wake, and at most 20 KiB beside a
# session with a file; and what a look at 200 threads costs them: nothing where they sleep.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
host="$B/tests/fault/listen_host"

least() # PATH: of several sessions, in KiB
{
    for _ in 1 2 3 4 5 6 7; do
        "$host" cost "$1"
    done | sort -n | head -1
}
file=$(least /dev/null)
listens=$(least -)
echo "a session with a file: $file KiB; one that listens: $listens KiB"
[ $((listens - file)) -le 20 ] || wrong "listening takes $((listens - file)) KiB"

start "$host" sleep 200
until grep -q ready host.out; do sleep 0.05; done
wakes() # the switches of the library's threads
{
    grep -l '^jsprof-' /proc/$pid/task/*/comm | while read -r comm; do
        cat "$comm"
        grep ctxt_switches "${comm%comm}status"
    done
}
wakes >before
[ "$(grep ^jsprof- before)" = jsprof-control ] || { cp before out; wrong 'has other threads'; }
sleep 2
wakes >after
cmp -s before after || { cat before after >out; ran=waiting; wrong 'wakes while nobody asks'; }

run dump $pid
is_rc 0
[ "$(grep -c '^thread .*: asleep in pause$' out)" = 201 ] || wrong 'has not all threads'
[ "$(grep -c 'sleeps (host.c)  :1$' out)" = 200 ] || wrong 'has not the stacks of all threads'
ran='the protocol'
python3 -B "$SRCDIR/tests/serve/ask.py" "$XDG_RUNTIME_DIR/jsprof/$pid.sock" >out
has 'done '
samples=$(sed -n 's/.* samples=\([0-9]*\).*/\1/p' out)
[ "${samples:-0}" -ge 201 ] || wrong 'has not a sample of each thread'
has ' handler_ns=0'
stop $pid

# Threads that compute get a signal each.
start "$host" mixed 8
run dump $pid
is_rc 0
[ "$(grep -c 'runs (host.c)  :1$' out)" = 4 ] || wrong 'has not the stacks of threads that compute'
[ "$(grep -c 'sleeps (host.c)  :1$' out)" = 4 ] || wrong 'has not the stacks of threads that sleep'
python3 -B "$SRCDIR/tests/serve/ask.py" "$XDG_RUNTIME_DIR/jsprof/$pid.sock" >out
handler=$(sed -n 's/.* handler_ns=\([0-9]*\).*/\1/p' out)
samples=$(sed -n 's/.* samples=\([0-9]*\).*/\1/p' out)
echo "$samples samples took $handler ns of the threads' time"
exit $bad
