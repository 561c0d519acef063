#!/bin/sh
# remember.sh - names of compiled code that were asked for once are not asked for again,
# until a collection may have freed them. remember_host.cpp does it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

for engine in $(engines); do
    UNDER="SpiderMonkey $engine"
    check 'it compiles' compile_host "$engine" "$SRCDIR/tests/mozjs/remember_host.cpp" host
    ./host >host.out 2>host.err
    check "it ends well, not with $?" test $? = 0
    check 'each step' all_ok host.out
done

finish
