#!/bin/sh
# unwind/walk.sh - stacks of programs that were interrupted at random are those that
# libunwind's unw_step finds, whole stacks, addresses and stack addresses.
#
# LONG=1: at least 100,000 samples and more programs, else some 10,000.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
. tests/unwind/common.sh
need_x86
echo '#include <libunwind.h>' | $CC -E - >/dev/null 2>&1 ||
    { echo 'SKIP: needs libunwind-dev'; exit 77; }
build shim.so -shared -Wl,-z,now -Wl,-z,nodelete
throw=
if command -v "${CXX:-g++}" >/dev/null; then
    ${CXX:-g++} -O2 -c -o "$out/host_throw.o" tests/unwind/host_throw.cpp
    throw="-DWITH_THROW $out/host_throw.o -lstdc++"
fi
# shellcheck disable=SC2086 # words
build host -fomit-frame-pointer $throw -Wl,-z,lazy

rm -f "$out/walk.out"
WALK_OUT=$out/walk.out
WALK_MOST=700
seconds=0
[ -z "${LONG:-}" ] || { WALK_MOST=9000; seconds=1; }
export WALK_OUT WALK_MOST
under() # PROGRAM ARGUMENTS, with the shim: timeout itself goes without
{
    timeout -k 5 30 env LD_BIND_NOT=1 LD_PRELOAD="$out/shim.so" "$@" >/dev/null 2>&1 </dev/null ||
        echo "walk: $* ended with status $?"
}
for kind in $("$out/host" list); do
    under "$out/host" "$kind" "$seconds"
done
under sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done'
under awk 'BEGIN { for (i = 0; i < 300000; i++) s = s + length(sprintf("%d %s", i, i / 7)) }'
! command -v perl >/dev/null ||
    under perl -e 'for (1 .. 2e5) { $h{$_ % 999} .= join ",", sort 3, 1 }'
if command -v gjs >/dev/null; then
    script='let s = 0; for (let i = 0; i < 150000; i++) s += [i, 2, 1].sort().join().length; 0;'
    under gjs -c "$script"
    GJS_DISABLE_JIT=1 WALK_AS=gjs-interpreted under gjs -c "$script" # all is in tables
fi

awk -v most="$WALK_MOST" '
    $1 == "walk" {
        for (i = 0; i < 6; i++) ends[i] += $(NF - 5 + i)
        name = $2
        sub(/.*\//, "", name)
        printf "%-14s %7d samples, %7d equal, %4d differ (%d: libunwind failed)\n",
               name, $4, $6, $8, $10
        if (name == "env") next # told, not judged
        if (name == "gjs-console") { # up to code without tables: there both guess
            printf "%-14s %7d more are equal up to compiled code\n", "", $18
            $6 += $18
        }
        samples += $4 - $10; equal += $6
    }
    END {
        printf "ends: %d END, %d FULL, %d NO_TABLE, %d STACK, %d UNREADABLE, %d RULE\n",
               ends[0], ends[1], ends[2], ends[3], ends[4], ends[5]
        share = samples ? equal / samples : 0
        printf "%d samples, %d equal: %.3f %%\n", samples, equal, share * 100
        exit !(samples >= 8 * most && share >= 0.999)
    }' "$out/walk.out" || { grep -A 12 '^difference' "$out/walk.out" | head -80; exit 1; }
