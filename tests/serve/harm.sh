#!/bin/sh
# serve/harm.sh - jsprof serve while a process that it records dies, executes another program, forks
# or hangs, and while somebody sets the clock.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
cat >spin.lark <<'END_OF_PROGRAM'
fn spin(n) {
    let i = 0;
    while i < n { i = i + 1; }
    return i;
}
while 1 < 2 { spin(1000000); }
END_OF_PROGRAM
"${CC:-gcc}" -O1 -shared -fPIC -o clocks.so "$SRCDIR/tests/fault/shim/clocks.c"
python3 -B "$SRCDIR/tests/serve/harm.py" "$jsprof" "$B/tests/fault/listen_host" "$B/bin/lark" \
    "$tmp/clocks.so"
