#!/bin/sh
# marks.sh - marks, spans and counters of a Lua program, and its memory, read back by the
# tool.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

told()
{
    rm -f "$SCRATCH/cap"
    stock "$SCRIPTS/marks.lua" "$SCRATCH/cap" >"$SCRATCH/bytes" 2>&1 ||
        { cat "$SCRATCH/bytes"; return 1; }
    "$JSPROF_TOOL" list "$SCRATCH/cap" >"$SCRATCH/list" 2>&1
}

list_has() # REGEX
{
    cat "$SCRATCH/list"
    grep -Eq -- "$1" "$SCRATCH/list"
}

# Ten looks a second and one at the end, which is when the program looks too.
memory_agrees()
{
    cat "$SCRATCH/list" "$SCRATCH/bytes"
    awk -v found="$(cat "$SCRATCH/bytes")" '/^Lua \/ memory/ {
        gsub(/,/, "")
        good = $4 >= 3 && $5 + 0 > 0.99 * found && $5 + 0 < 1.01 * found + 65536
    } END { exit !good }' "$SCRATCH/list"
}

one()
{
    check 'the program runs' told
    check 'the capture is whole' whole
    check 'three marks' list_has '^Lua / phase +3 '
    check 'a span of more than half a second' list_has \
        '^Lua / span +1 +([6-9][0-9.]+ ms|[1-9][0-9.]* s)'
    check 'a counter, its values and the last' list_has '^Lua / queue +2 +-2\.5 +-2\.5 '
    check 'nothing of before or after' sh -c "! grep -E 'before|after' '$SCRATCH/list'"
    check 'memory is a counter too' memory_agrees
}

each_version one
finish
