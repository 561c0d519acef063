#!/bin/sh
# serve/attacks.sh - jsprof serve: odd and hostile requests have one answer each, and clients that
# send a byte now and then harm nobody.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
python3 -B "$SRCDIR/tests/serve/attacks.py" "$jsprof"
