#!/bin/sh
# pkg/read.sh - a program that reads captures takes the reading library from the sources, as a
# folder that its own Meson or CMake builds.
#
# SPDX-License-Identifier: MIT
set -eu
for tool in meson ninja cmake; do
    command -v $tool >/dev/null || { echo "SKIP: needs $tool"; exit 77; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "read: $*"; cat "$tmp/log"; exit 1; }
unset CFLAGS LDFLAGS JSPROF
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o "$tmp/captures" "$SRCDIR"/tests/cli/captures*.c
"$tmp/captures" good >"$tmp/good.cap"

reads() # PROGRAM
{
    "$1" "$tmp/good.cap" >"$tmp/log"
    [ "$(wc -l <"$tmp/log")" = 3 ] && grep -q '^50000000 50000000 work (' "$tmp/log" ||
        fail "$1: other functions"
}

mkdir -p "$tmp/meson/subprojects"
ln -s "$SRCDIR" "$tmp/meson/subprojects/jsprof"
cp "$SRCDIR/tests/bench/functions.c" "$tmp/meson"
cat >"$tmp/meson/meson.build" <<'END'
project('reads', 'c')
executable('reads', 'functions.c', dependencies: dependency('jsprof-read', fallback: 'jsprof'))
END
(cd "$tmp/meson" && CC=$CC meson setup --force-fallback-for=jsprof-read build . &&
    ninja -C build reads) >"$tmp/log" 2>&1 || fail 'Meson'
reads "$tmp/meson/build/reads"

mkdir "$tmp/cmake"
cat >"$tmp/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(reads C)
add_subdirectory("$SRCDIR" jsprof EXCLUDE_FROM_ALL)
add_executable(reads "$SRCDIR/tests/bench/functions.c")
target_link_libraries(reads jsprof::read)
END
{ CC=$CC cmake -S "$tmp/cmake" -B "$tmp/cmake/made" &&
    cmake --build "$tmp/cmake/made" --target reads -j 2; } >"$tmp/log" 2>&1 || fail 'CMake'
reads "$tmp/cmake/made/reads"
