#!/bin/sh
# hosts.sh - parts of the binding alone, each in a program that speaks TAP: names of compiled code
# that are remembered until a collection (remember_host.cpp), memory at addresses that may be
# wrong (peek_host.cpp), and a file for Sysprof that is full for a while (relay_host.c).
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
BINDING=$SRCDIR/bindings/mozjs

runs() # WHAT ARGUMENT...
{
    UNDER=$1
    shift
    ./host "$@" >host.out 2>host.err
    check "it ends well, not with $?" test $? = 0
    check 'each step' all_ok host.out
}

for engine in $(engines); do
    check 'it compiles' compile_host "$engine" "$SRCDIR/tests/mozjs/remember_host.cpp" host
    runs "remember, SpiderMonkey $engine"
done
# shellcheck disable=SC2086
check 'it compiles' "${CXX:-g++}" -std=c++17 -g -O2 -Wall -Wextra ${WERROR:-} -I"$BINDING" \
    "$SRCDIR/tests/mozjs/peek_host.cpp" "$BINDING/peek.cpp" -o host
runs peek
check 'it compiles' "${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -Wall -Wextra ${WERROR:-} -I"$BINDING" \
    "$SRCDIR/tests/mozjs/relay_host.c" "$BINDING/relay.c" "$BINDING/relay_numbers.c" \
    "$BINDING/relay_ring.c" -pthread -o host
runs relay file
finish
