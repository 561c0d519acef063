#!/bin/sh
# lark_aarch64.sh - native code for aarch64, made by a cross compiler and run in an
# emulator: the programs and the errors, as on this machine.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lark/lib.sh"

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null 2>&1 && continue
    echo 'SKIP: needs gcc-aarch64-linux-gnu qemu-user'
    exit 77
done

# make passes its own settings to its children: B and CC are others here.
arm=$B/lark-aarch64
(cd "$SRCDIR" && env -u MAKEFLAGS -u MAKEOVERRIDES \
    make B="$arm" CC=aarch64-linux-gnu-gcc MOZJS=no "$arm/bin/lark") \
    >"$SCRATCH/make.out" 2>&1 || { cat "$SCRATCH/make.out"; exit 1; }
cat >"$SCRATCH/lark" <<END
#!/bin/sh
exec qemu-aarch64 -L /usr/aarch64-linux-gnu '$arm/bin/lark' "\$@"
END
chmod +x "$SCRATCH/lark"

whole() # TEST: run it with the emulated lark
{
    LARK=$SCRATCH/lark sh "$SRCDIR/tests/lark/$1.sh"
}
for test in jit errors; do
    check "$test, on aarch64" whole "$test"
    tail -n 1 "$SCRATCH/check.out"
done
finish
