#!/bin/sh
# gdb/damage.sh - the script survives a core file whose memory is damaged.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/gdb/lib.sh"
$CC -std=c11 -D_GNU_SOURCE -O2 -g -static -no-pie -I"$SRCDIR/include" -o "$tmp/forms" \
    "$SRCDIR/tests/gdb/forms.c" "$B/lib/libjsprof.a" -pthread
gdb_run -ex 'break forms_ready' -ex run -ex "gcore $tmp/core" -ex kill "$tmp/forms" >"$tmp/out"
[ -s "$tmp/core" ] || { cat "$tmp/out"; exit 1; }
rounds=$([ "${LONG:-}" = 1 ] && echo 20000 || echo 60)
python3 "$SRCDIR/tests/gdb/damage.py" "$SRCDIR/debugger" "$tmp/forms" "$tmp/core" $rounds ||
    wrong 'it did not survive'
exit $bad
