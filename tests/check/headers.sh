#!/bin/sh
# check/headers.sh - every header compiles alone and may be included twice; the public ones
# are also strict ISO C11.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
bad=0
warn="-Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes ${WERROR:-}"
case $($CC -dumpmachine) in # a header for one machine means nothing on another
x86_64*) foreign='*_aarch64.h' ;;
*) foreign='*_x86_64.h' ;;
esac
for h in $(find include src examples tests -name node_modules -prune -o \
    -name '*.h' ! -name "$foreign" -print | sort); do
    $CC -std=c11 -D_GNU_SOURCE $warn -Iinclude -Isrc -Itests -Itests/unit -fsyntax-only \
        -Wno-unused -x c -include "$h" -include "$h" /dev/null || {
        echo "headers: $h does not stand alone"
        bad=1
    }
done
for h in include/*.h; do
    $CC -std=c11 $warn -pedantic-errors -fsyntax-only -x c "$h" ||
        { echo "headers: $h is not strict C11"; bad=1; }
done
exit $bad
