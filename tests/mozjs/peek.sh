#!/bin/sh
# peek.sh - memory at addresses that may be wrong. peek_host.cpp does it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# shellcheck disable=SC2086
check 'it compiles' "${CXX:-g++}" -std=c++17 -g -O2 -Wall -Wextra ${WERROR:-} \
    -I"$SRCDIR/bindings/mozjs" "$SRCDIR/tests/mozjs/peek_host.cpp" \
    "$SRCDIR/bindings/mozjs/peek.cpp" -o host
./host >host.out 2>host.err
check "it ends well, not with $?" test $? = 0
check 'each step' all_ok host.out

finish
