#!/bin/sh
# remember.sh - names of compiled code that were asked for once are not asked for again,
# until a collection may have freed them. remember_host.cpp does it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# shellcheck disable=SC2046
check 'it compiles' "${CXX:-g++}" -std=c++17 -g -O2 -fno-rtti -Wall -Wextra ${WERROR:-} \
    -I"$SRCDIR/include" -I"$SRCDIR/bindings/mozjs" $(pkg-config --cflags mozjs-102) \
    "$SRCDIR/tests/mozjs/remember_host.cpp" "$B/lib/libjsprof-mozjs.a" "$B/lib/libjsprof.a" \
    $(pkg-config --libs mozjs-102) -pthread -o host
./host >host.out 2>host.err
check "it ends well, not with $?" test $? = 0
check 'each step' all_ok host.out

finish
