#!/bin/sh
# gdb/jit.sh - JSPROF_GDB_JIT: gdb without our script shows compiled code by name, and the way out
# of it: live, in a core file, and with a stripped library; and forgets code that is removed.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/gdb/lib.sh"
plain() # ARGUMENT...
{
    gdb -nx -q -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' \
        -ex 'set pagination off' -ex 'set confirm off' -ex 'set startup-with-shell off' "$@" 2>&1
}
is_whole() # FILE
{
    grep -q '^#1 .* in moved (program.lang:7) ()' "$1" && grep -q '^#2 .* main (' "$1" ||
        { cat "$1"; wrong "$2"; }
}

$CC -std=c11 -D_GNU_SOURCE -O1 -g -I"$SRCDIR/include" -o "$tmp/static" "$SRCDIR/tests/gdb/jit.c" \
    "$B/lib/libjsprof.a" -pthread
$CC -std=c11 -D_GNU_SOURCE -O1 -g -I"$SRCDIR/include" -o "$tmp/shared" "$SRCDIR/tests/gdb/jit.c" \
    -L"$B/lib" -ljsprof -pthread
mkdir "$tmp/lib"
strip=$($CC -print-prog-name=strip)
for so in "$B"/lib/libjsprof.so.?; do
    $strip -o "$tmp/lib/${so##*/}" "$so"
done
export LD_LIBRARY_PATH="$tmp/lib"

for how in static shared; do
    plain -ex 'break jit_inner' -ex run -ex bt -ex "gcore $tmp/core" -ex 'break jit_removed' \
        -ex continue -ex 'info functions -n (program.lang' -ex 'echo end\n' "$tmp/$how" >"$tmp/out"
    is_whole "$tmp/out" "$how: not the whole stack"
    sed '1,/jit_removed (/d; /^end$/,$d' "$tmp/out" >"$tmp/after"
    ! grep -q 'program\.lang:' "$tmp/after" || { cat "$tmp/after"; wrong "$how: code stays"; }
    plain -c "$tmp/core" -ex bt "$tmp/$how" >"$tmp/out"
    is_whole "$tmp/out" "$how: not the whole stack of the core file"
done
"$tmp/static" 1000

# LONG=1: the same on aarch64, where the tools for that are there: from outside of an emulator.
cross=aarch64-linux-gnu-gcc arm="$tmp/arm"
has() { command -v "$1" >/dev/null; }
if [ -n "${LONG:-}" ] && has $cross && has qemu-aarch64 && has gdb-multiarch; then
    make -s -C "$SRCDIR" B="$arm" CC="$CC" MOZJS=no LUA=no amalgamation
    $cross -std=c11 -D_GNU_SOURCE -O1 -g -static -mno-outline-atomics -I"$arm/amalgamation" \
        -o "$arm/jit" "$SRCDIR/tests/gdb/jit.c" "$arm/amalgamation/jsprof.c" -pthread -lm
    qemu-aarch64 -g "$arm/socket" "$arm/jit" >"$arm/out" 2>&1 &
    for _ in $(seq 600); do [ -S "$arm/socket" ] && break || sleep 0.1; done
    timeout 120 gdb-multiarch -nx -q -batch -iex 'set auto-load no' \
        -iex 'set debuginfod enabled off' -ex 'set pagination off' -ex 'set confirm off' \
        -ex "target remote $arm/socket" -ex 'break jit_inner' -ex continue -ex bt \
        -ex 'break jit_removed' -ex continue -ex 'info functions -n (program.lang' \
        -ex 'echo end\n' -ex kill "$arm/jit" >"$tmp/out" 2>&1 || true
    is_whole "$tmp/out" 'aarch64: not the whole stack'
    sed '1,/jit_removed (/d; /^end$/,$d' "$tmp/out" >"$tmp/after"
    ! grep -q 'program\.lang:' "$tmp/after" || { cat "$tmp/after"; wrong 'aarch64: code stays'; }
    kill $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    echo 'aarch64: compiled code is named, and gone when it is removed'
fi
exit $bad
