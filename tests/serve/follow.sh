#!/bin/sh
# serve/follow.sh - jsprof loop --follow with a program that runs: on a terminal, where the table is
# drawn anew until the program ends, and into a pipe.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }

cat >timers.lark <<'END_OF_PROGRAM'
let left = 60;
let number = 0;
fn again(unused) { left -= 1; if left == 0 { cancel(number); } return nil; }
number = every(100, again, nil);
END_OF_PROGRAM
begin() # NAME
{
    "$B/bin/lark" --profile-output="$1" --profile-tasks timers.lark &
    pids="$pids $!"
    tries=0
    until "$jsprof" loop "$1" 2>/dev/null | grep -q again; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { echo "$1: has no task"; exit 1; }
        sleep 0.1
    done
}
runs() { awk '/again/ { print $1 }' "$1"; }

begin screen.cap
python3 -B "$SRCDIR/tests/serve/follow.py" "$jsprof" screen.cap
begin pipe.cap
run loop --follow pipe.cap
is_rc 0
runs out >seen
sort -n -u seen | diff - seen >/dev/null || wrong 'does not count upwards'
[ "$(wc -l <seen)" -ge 3 ] || wrong 'has answered fewer than three times'
[ "$(tail -n 1 seen)" = 60 ] || wrong 'has not ended with all runs'
! grep -q "$(printf '\033')" out || wrong 'prints escapes into a pipe'
exit $bad
