#!/bin/sh
# off.sh BUILD WORK - the cost of the profiler for Lark while nobody profiles: its interpreter
# against one whose hooks the compiler has removed, and one that only stores no lines.
#
# SPDX-License-Identifier: MIT
#
# A program's speed depends on the addresses of its loops by more than the hooks cost. So each
# round links both anew with another distance before the code, and runs them in turn; a round's
# figure is the ratio of the shortest times. Two rows compare instructions, which addresses do not
# change, with valgrind.
set -eu
build=$1 work=$2 CC=${CC:-gcc}
rounds=24 runs=5
[ -z "${QUICK:-}" ] || rounds=6 runs=3
kinds='none hooks lines'
for kind in $kinds; do
    mkdir -p "$work/off/$kind"
    cp examples/lark/*.[ch] "$work/off/$kind"
done
no_thread='#define lark_profile_thread ((jsprof_thread *)0)'
sed -i "s/^extern jsprof_thread \*lark_profile_thread;.*/$no_thread/" "$work/off/none/profile.h"
sed -i '/volatile lark_profile_place \*)(void/s/.*/    (void)frame, (void)place;/' \
    "$work/off/none/profile.h" "$work/off/hooks/profile.h"
cp examples/lark/profile.h "$work/off/none/profile_whole.h" # starts a session all the same
sed -i 's/#include "profile.h"/#include "profile_whole.h"/' "$work/off/none/profile.c"
grep -q 'define lark_profile_thread' "$work/off/none/profile.h" &&
    ! cmp -s "$work/off/hooks/profile.h" "$work/off/lines/profile.h" ||
    { echo 'off.sh: profile.h has changed' >&2; exit 1; }
for kind in $kinds; do
    for c in "$work/off/$kind"/*.c; do
        $CC -std=gnu11 -O2 -w -Iinclude -I"$work/off/$kind" -c "$c" -o "${c%.c}.o" || exit 1
    done
done

lark() # KIND PROGRAM ARGUMENT: microseconds
{
    "$build/tests/bench/cpu_of" "$work/off/lark-$1" --jit=off "examples/lark/programs/$2.lark" "$3"
}
for round in $(seq $rounds); do
    printf '__asm__(".text\\n.skip %d");\n' $((round * 1264 % 16384)) >"$work/off/gap.c"
    $CC -c "$work/off/gap.c" -o "$work/off/gap.o"
    for kind in $kinds; do
        $CC -o "$work/off/lark-$kind" "$work/off/gap.o" "$work/off/$kind"/*.o \
            "$build/lib/libjsprof.a" -pthread -lm
    done
    for run in $(seq $runs); do
        for kind in $kinds; do
            echo "calls $round $kind $(lark $kind fib 28)"
            echo "loops $round $kind $(lark $kind nbody 12000)"
        done
    done
done | awk '
    { key = $1 " " $2 " " $3 }
    !(key in least) || $4 < least[key] { least[key] = $4 }
    END {
        for (key in least) {
            split(key, part, " ")
            if (part[3] != "none")
                print part[1], part[3], least[key] / least[part[1] " " part[2] " none"],
                    least[key]
        }
    }' | sort -k1,2 -k3,3n | awk '
    function quantile(q,  at, i) {
        at = 1 + q * (n - 1); i = int(at)
        return i < n ? v[i] + (at - i) * (v[i + 1] - v[i]) : v[n]
    }
    function row(  median, low, high, notch, holds) {
        if (!n) return
        median = quantile(0.5); low = quantile(0.25); high = quantile(0.75)
        notch = 1.57 * (high - low) / sqrt(n)
        holds = median + notch <= 1.01 ? "yes" : median - notch > 1.01 ? "NO" : "noise"
        limit = "<= 1.01x"
        if (kind ~ /lines/) { # a store per operation, shown and not judged
            holds = limit = "-"
            sub(" lines", ", and its line stores", kind)
        }
        sub(" hooks", "", kind)
        printf "row\tcompiled in, off: Lark, %s\t%s\t", kind, limit
        printf "%.3fx (%.3f..%.3f)\t", median, low, high
        printf "%d relinks, %.1f ms\t%s\n", n, ms / 1e3, holds
        n = 0
    }
    $1 " " $2 != key { row(); kind = key = $1 " " $2 }
    { v[++n] = $3; ms = $4 }
    END { row() }'

command -v valgrind >/dev/null || { printf 'note\tno instructions: needs valgrind\n'; exit; }
instructions() # KIND PROGRAM ARGUMENT
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$work/off/lark-$1" --jit=off \
        "examples/lark/programs/$2.lark" "$3" 2>&1 | awk '/ refs:/ { gsub(",", ""); print $NF }'
}
for program in 'calls fib 20' 'loops nbody 300'; do
    # shellcheck disable=SC2086 # words
    set -- $program
    echo "$1 $(instructions none $2 $3) $(instructions hooks $2 $3)"
done | awk '{
    printf "row\t  instructions of Lark, %s\t-\t%.3fx\t%.1f million\t-\n", $1, $3 / $2, $3 / 1e6
}'
