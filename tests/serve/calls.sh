#!/bin/sh
# serve/calls.sh - exact calls of a process that runs: switched on, shown, and switched off.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
cat >spin.lark <<'END_OF_PROGRAM'
fn spin(n) {
    let i = 0;
    while i < n { i = i + 1; }
    return i;
}
while 1 < 2 { spin(1000); }
END_OF_PROGRAM
start "$B/bin/lark" --profile-control spin.lark
run calls $pid
is_rc 1
says 'the host counted none'
run calls --on $pid
is_rc 0
calls() # of spin so far
{
    run calls --csv $pid
    is_rc 0
    sed -n 's/^"spin","spin.lark",1,[a-z]*,\([0-9]*\),.*/\1/p' out
}
before=$(calls)
tries=0
while after=$(calls) && [ "$after" -le "$before" ]; do # a slow machine gives it no processor
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { wrong "does not count: $before, then $after"; break; }
done
run calls --off $pid
is_rc 0
before=$(calls)
sleep 0.5
after=$(calls)
[ "$before" = "$after" ] || wrong "counts after --off: $before, then $after"
[ "$before" -gt 0 ] || wrong 'has no calls'
run calls --on --off $pid
is_rc 2
run calls --on spin.lark
is_rc 2
run calls --on 999999999
is_rc 1
says 'there is no process 999999999'
exit $bad
