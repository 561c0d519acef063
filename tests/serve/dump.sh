#!/bin/sh
# serve/dump.sh - jsprof dump of processes that hang: in a loop, in a deadlock, in a sleep that a
# script called through FFI, with all signals blocked, and stopped.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
host="$B/tests/fault/listen_host"

# dump_until PATTERN...: dump $pid until the output has a line like each; a busy machine may show
# a thread before it is there.
dump_until()
{
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        run dump $pid
        is_rc 0
        missing=
        for pattern; do
            grep -qE -- "$pattern" out || missing=$pattern
        done
        [ "$missing" ] || return 0
        sleep 0.2
    done
    wrong "has no line like: $missing"
}

run dump
is_rc 2
says 'no capture and no process named'
spin_lark
start "$B/bin/lark" --profile-control spin.lark
dump_until "^thread $pid main: running" 'spin \(spin\.lark:1\)' '  main  \[lark\]'
lark=$pid

start "$host" hangs lock
for _ in 1 2 3 4 5 6 7 8 9 10; do # a thread may be on its way to the lock
    dump_until ': asleep in futex$' 'holds_0_waits_for_1 \(host\.c\)  :1$' \
        'holds_1_waits_for_0 \(host\.c\)  :1$' 'pthread_mutex_lock|lll_lock_wait|__lock'
    [ "$(grep -c ': asleep in futex$' out)" = 2 ] && break
done
[ "$(grep -c ': asleep in futex$' out)" = 2 ] || wrong 'not two threads wait for a lock'
grep -q "^thread $pid main: asleep in pause\$" out || wrong 'has no thread that pauses'
stop $pid

# It gets no signal while it runs, so it can not show its stack; the others do.
start "$host" hangs deaf
dump_until '^thread [0-9]+ deaf: no sample: it got no processor, blocks the signal, ' \
    "^thread $pid main: asleep in pause"
! grep -q 'deaf (deaf)' out || wrong 'has the stack of a thread that blocks the signal'
run dump --csv $pid
grep -qE "^$pid,[0-9]+,\"deaf\",,,,,,,\$" out || wrong 'has no row of that thread'
stop $pid

# A script that waits in a C function has both in one stack.
for lua in luajit lua5.4; do
    module="$B/lib/lua/${lua#lua}"
    command -v $lua >/dev/null && [ -f "$module/jsprof.so" ] || continue
    case $lua in
    luajit) echo 'local ffi = require "ffi"
ffi.cdef "int poll(void *, unsigned long, int);"
local function naps() while true do ffi.C.poll(nil, 0, 600000) end end' >nap.lua ;;
    *) echo 'local function naps() local n = io.read("*n") return n end' >nap.lua ;;
    esac
    echo 'local r = naps() print(r)' >>nap.lua
    mkfifo -m 600 $lua.fifo
    LUA_CPATH="$module/?.so;;" LUA_INIT='require "jsprof"' JSPROF_CONTROL=1
    export LUA_CPATH LUA_INIT JSPROF_CONTROL
    exec 3<>$lua.fifo
    start sh -c "exec $lua nap.lua <$lua.fifo"
    unset LUA_CPATH LUA_INIT JSPROF_CONTROL
    dump_until '  (poll|read)  \[libc' 'naps \(nap\.lua:[0-9]\)' 'main chunk \(nap\.lua'
    stop $pid
    exec 3<&-
done

# A stopped process can not answer.
pid=$lark
kill -STOP $pid
run dump $pid
is_rc 1
says "process $pid"
says 'it gives no answer'
[ "$(wc -l <err)" = 1 ] && [ ! -s out ] || wrong 'is not one line alone'
kill -CONT $pid
dump_until 'spin \(spin\.lark:1\)'
exit $bad
