#!/bin/sh
# unwind/sandbox.sh - where process_vm_readv is forbidden, walks over other stacks, signal
# trampolines and compiled code are what they are elsewhere, and garbage is still refused.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
. tests/unwind/common.sh
build deny
denied() # ERRNO TEST...
{
    DENY_ERRNO=$1
    export DENY_ERRNO
    shift
    for test in "$@"; do
        rc=0
        "$out/deny" "$B/tests/$test" >"$out/deny.log" 2>&1 || rc=$?
        grep -q '^SKIP' "$out/deny.log" && { cat "$out/deny.log"; exit 77; }
        if [ $rc != 0 ] || ! grep -q '^ok ' "$out/deny.log"; then
            cat "$out/deny.log"
            echo "$test, denied with $DENY_ERRNO: status $rc"
            exit 1
        fi
        echo "$test: $(grep -c '^ok ' "$out/deny.log") cases"
    done
}
denied 1 unit/memread_test unit/unwind_test unit/frame_test unit/jit_test \
    unit/coroutine_test unit/paths_test # EPERM
denied 38 unit/unwind_test # ENOSYS
