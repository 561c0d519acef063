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
"$B/bin/jsprof" report --csv --idle "$tmp/good.cap" >"$tmp/wanted"
[ "$(wc -l <"$tmp/wanted")" -gt 2 ] || fail 'the command lists no functions'

reads() # PROGRAM
{
    "$1" report "$tmp/good.cap" idle >"$tmp/ours"
    cmp "$tmp/wanted" "$tmp/ours" || { cp "$tmp/ours" "$tmp/log"; fail "$1: other functions"; }
}

mkdir -p "$tmp/meson/subprojects"
ln -s "$SRCDIR" "$tmp/meson/subprojects/jsprof"
cp "$SRCDIR/tests/read/show.c" "$tmp/meson"
cat >"$tmp/meson/meson.build" <<'END'
project('reads', 'c')
executable('reads', 'show.c', dependencies: dependency('jsprof-read', fallback: 'jsprof'))
END
(cd "$tmp/meson" && CC=$CC meson setup --force-fallback-for=jsprof-read build . &&
    ninja -C build reads) >"$tmp/log" 2>&1 || fail 'Meson'
reads "$tmp/meson/build/reads"

mkdir "$tmp/cmake"
cat >"$tmp/cmake/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(reads C)
add_subdirectory("$SRCDIR" jsprof EXCLUDE_FROM_ALL)
add_executable(reads "$SRCDIR/tests/read/show.c")
target_link_libraries(reads jsprof::read)
END
{ CC=$CC cmake -S "$tmp/cmake" -B "$tmp/cmake/made" &&
    cmake --build "$tmp/cmake/made" --target reads -j 2; } >"$tmp/log" 2>&1 || fail 'CMake'
reads "$tmp/cmake/made/reads"
