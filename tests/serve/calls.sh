#!/bin/sh
# serve/calls.sh - exact calls of a process that runs: switched on, shown, and switched off.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
spin_lark 'spin(1000);'
start "$B/bin/lark" --profile-control spin.lark
run calls $pid
is_rc 1
says "jsprof: process $pid (lark): "
says 'the host counted none'
run calls --on $pid
is_rc 0
calls() # of spin so far
{
    run calls --csv $pid
    is_rc 0
    sed -n 's/^"spin","spin.lark",1,[a-z]*,\([0-9]*\),.*/\1/p' out | grep . || echo 0
}
before=$(calls)
tries=0
while after=$(calls) && [ "$after" -le "$before" ]; do # a slow machine gives it no processor
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { wrong "does not count: $before, then $after"; break; }
done
run calls --json $pid
has "\"capture\":\"process $pid (lark)\""
run calls --off $pid
is_rc 0
# A capture that begins later has the figures, and says that they are older; nothing is added.
before=$(calls)
run record --seconds 0.3 --quiet -o later.cap $pid
run calls later.cap
is_rc 0
has 'Counted: before the recording; in it, nothing'
after=$(calls)
[ "$before" = "$after" ] || wrong "counts after --off: $before, then $after"
[ "$before" -gt 0 ] || wrong 'has no calls'
# A host that counts from its start or not at all says so.
JSPROF_CONTROL=1
export JSPROF_CONTROL
refused() # COMMAND...
{
    start "$@"
    run calls --on $pid
    is_rc 1
    says 'it counts calls only from its start, with JSPROF_CALLS (Lua) or --profile-calls=on (GJS)'
    [ "$(wc -l <err)" = 1 ] || wrong 'says more than one line'
    run calls --off $pid
    is_rc 0
    stop $pid
}
lark=$pid
echo 'local function f() end while true do f() end' >loop.lua
for lua in lua5.1 lua5.2 lua5.3 lua5.4 lua5.5 luajit; do
    module="$B/lib/lua/${lua#lua}/?.so"
    command -v $lua >/dev/null && [ -f "$B/lib/lua/${lua#lua}/jsprof.so" ] || continue
    case $lua in luajit | lua5.1) init=LUA_INIT ;; *) init=LUA_INIT_5_${lua#lua5.} ;; esac
    refused env LUA_CPATH="$module;;" $init='require "jsprof"' $lua loop.lua
    start env LUA_CPATH="$module;;" $init='require "jsprof"' JSPROF_CALLS=count,time $lua loop.lua
    for words in --off --on; do
        run calls $words $pid
        is_rc 0
    done
    tries=0
    until run calls --csv $pid && grep -q '^"f","loop.lua",1,[a-z]*,[1-9]' out; do
        tries=$((tries + 1)) # a slow machine gives it no processor
        [ $tries -lt 100 ] || { wrong 'has no calls'; break; }
    done
    stop $pid
done
if [ -x "$B/bin/gjs-console" ]; then
    echo 'while (true);' >loop.js
    refused "$B/bin/gjs-console" loop.js
fi
unset JSPROF_CONTROL
pid=$lark
run calls --on --off $pid
is_rc 2
run calls --on spin.lark
is_rc 2
run calls --on 999999999
is_rc 1
says 'there is no process 999999999'
exit $bad
