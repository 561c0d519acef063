#!/bin/sh
# cli/lines.sh - a host that pushes a name, a file and the line where it is now: the report by line
# has that line, though the name has none.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

JSPROF_HZ=5000 JSPROF=minimal.cap "$B/bin/minimal" >minimal.out 2>minimal.err ||
    wrong 'the host fails'
run report --by line --limit 0 --csv minimal.cap
is_rc 0
has '"render (script.x):17",'
has '"parse (script.x):3",'
exit $bad
