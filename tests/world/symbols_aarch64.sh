#!/bin/sh
# world/symbols_aarch64.sh - libraries of aarch64, read on any machine: names as readelf has
# them, stubs as objdump has them, no marks of code and data as functions.
#
# SPDX-License-Identifier: MIT
set -eu
cross=aarch64-linux-gnu
command -v $cross-gcc >/dev/null || { echo 'SKIP: needs gcc-aarch64-linux-gnu'; exit 77; }
. "$SRCDIR/tests/symbols/lib.sh"
cat >"$tmp/lib.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
int shown(int i);
static __attribute__((noinline)) int hidden(int i) { return puts("x") + i + abs(rand()); }
int shown(int i) { return hidden(i) + (malloc(8) != 0); }
END
for protection in none standard; do
    $cross-gcc -O1 -shared -fPIC -mbranch-protection=$protection -Wl,-z,lazy \
        $([ $protection = none ] || echo -Wl,-z,force-bti) \
        -o "$tmp/lib.so" "$tmp/lib.c" 2>/dev/null
    $cross-readelf -sW "$tmp/lib.so" >"$tmp/symbols"
    agree "aarch64, protection $protection" "$tmp/symbols" "$tmp/lib.so" symbols
    $cross-objdump -d "$tmp/lib.so" |
        sed -n 's/^[0-9a-f]* <\([^*>]*@plt\)>:$/\1/p' | sort >"$tmp/want"
    "$table" "$tmp/lib.so" | awk '$3 ~ /@plt$/ { print $3 }' | sort >"$tmp/got"
    [ -s "$tmp/want" ] || { echo 'symbols: objdump sees no stubs'; exit 1; }
    diff "$tmp/want" "$tmp/got"
    "$table" "$tmp/lib.so" | awk '$3 ~ /^\$/ { print; bad = 1 } END { exit bad }'
done
