#!/bin/sh
# pkg/cmake.sh - examples/cmake takes jsprof in each way that CMake knows: installed, shared
# and static; as a folder, shared and static; and fetched as the archive of make dist.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
command -v cmake >/dev/null || { echo 'SKIP: needs cmake'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "cmake: $*"; exit 1; }
unset CFLAGS LDFLAGS JSPROF
readelf=$($CC -print-prog-name=readelf)
run_make() { make -s B="$B" CC="$CC" MOZJS=no LUA=no "$@"; }
run_make PREFIX="$tmp/in" LIBDIR="$tmp/in/lib/here" install-lib >/dev/null
run_make dist >/dev/null
version=$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)

host() # NAME WORD...: configure with these, build, and record
{
    name=$1
    shift
    { cmake -S examples/cmake -B "$tmp/$name" -DCMAKE_C_COMPILER="$CC" "$@" &&
        cmake --build "$tmp/$name" -j 2; } >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "$name"; }
    ! grep -i 'warning' "$tmp/log" || fail "$name: warnings"
    JSPROF=$tmp/$name.cap "$tmp/$name/host" >/dev/null || fail "$name: the host does not run"
    "$B/bin/jsprof" report "$tmp/$name.cap" | grep -q 'render (script.x' ||
        fail "$name: no function of the host in its report"
}
needs() { $readelf -d "$tmp/$1/host" | grep 'NEEDED.*libjsprof\.so\.' >/dev/null; }

host installed -DCMAKE_PREFIX_PATH="$tmp/in" -Djsprof_DIR="$tmp/in/lib/here/cmake/jsprof"
needs installed || fail 'installed: not linked with the shared library'
host installed-static -DJSPROF_STATIC=yes -Djsprof_DIR="$tmp/in/lib/here/cmake/jsprof"
! needs installed-static || fail 'installed-static: linked with the shared library'
# What reads the capture of the installed host.
mkdir "$tmp/reads"
cat >"$tmp/reads/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(reads C)
find_package(jsprof 0.1 REQUIRED)
foreach(kind read read_static)
    add_executable(\${kind} "$SRCDIR/tests/bench/functions.c")
    target_link_libraries(\${kind} PRIVATE jsprof::\${kind})
endforeach()
END
{ cmake -S "$tmp/reads" -B "$tmp/reads/made" -DCMAKE_C_COMPILER="$CC" \
    -Djsprof_DIR="$tmp/in/lib/here/cmake/jsprof" && cmake --build "$tmp/reads/made"; } \
    >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'programs that read captures'; }
for kind in read read_static; do
    "$tmp/reads/made/$kind" "$tmp/installed.cap" | grep -q 'render (script.x' ||
        fail "$kind: no function of the host"
done
! cmake -S examples/cmake -B "$tmp/not" -DCMAKE_C_COMPILER="$CC" >"$tmp/log" 2>&1 ||
    fail 'it is found where it is not installed'
host folder -DJSPROF_SOURCE="$SRCDIR"
! needs folder || fail 'folder: a shared library by default'
host folder-shared -DJSPROF_SOURCE="$SRCDIR" -DBUILD_SHARED_LIBS=ON
needs folder-shared || fail 'folder-shared: a static library'
host fetched -DJSPROF_FETCH="$B/jsprof-$version.tar.gz"
[ ! -e jsprof.c ] && [ ! -e CMakeCache.txt ] || fail 'it wrote into the tree'
