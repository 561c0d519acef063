#!/bin/sh
# relay.sh - a file for Sysprof that is full for a while holds whole frames all the same.
# relay_host.c does it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

check 'it compiles' "${CC:-cc}" -std=c11 -D_GNU_SOURCE -g -Wall -Wextra ${WERROR:-} \
    -I"$SRCDIR/bindings/mozjs" "$SRCDIR/tests/mozjs/relay_host.c" \
    "$SRCDIR"/bindings/mozjs/relay.c "$SRCDIR"/bindings/mozjs/relay_numbers.c \
    "$SRCDIR"/bindings/mozjs/relay_ring.c -pthread -o host
./host file >host.out 2>host.err
check "it ends well, not with $?" test $? = 0
check 'each step' all_ok host.out

finish
