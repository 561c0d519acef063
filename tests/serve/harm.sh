#!/bin/sh
# serve/harm.sh - jsprof serve while a process that it records dies, executes another program, forks
# or hangs, and while somebody sets the clock.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
spin_lark
"${CC:-gcc}" -O1 -shared -fPIC -o clocks.so "$SRCDIR/tests/fault/shim/clocks.c"
python3 -B "$SRCDIR/tests/serve/harm.py" "$jsprof" "$B/tests/fault/listen_host" "$B/bin/lark" \
    "$tmp/clocks.so"
