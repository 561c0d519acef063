#!/bin/sh
# lark/allocations.sh - samples of allocations of an example in C: shares and sums are those of the
# program's objects, and what it keeps is live, however it runs.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
. "$SRCDIR/tests/lib-allocations.sh"

# Arrays of two kinds, three of the first for each of the second, which the collector frees; and
# arrays that stay.
cat >"$SCRATCH/objects.lark" <<'END'
let kept = [];
fn three(i) { [i, i, i, i]; [i, i, i, i]; [i, i, i, i]; }
fn one(i) { [i, i, i, i]; }
fn keep(i) { push(kept, [i, i, i, i, i, i, i, i]); }
for i = 0, 100000 { three(i); one(i); }
for i = 0, 50000 { keep(i); }
print(len(kept));
END

shown() # MEASURE
{
    bytes "$1" >"$SCRATCH/bytes"
    cat "$SCRATCH/bytes"
}

recorded() # OPTION...
{
    rm -f "$SCRATCH/cap"
    "$LARK" --profile-output="$SCRATCH/cap" --profile-alloc=16384 "$@" \
        "$SCRATCH/objects.lark" >"$SCRATCH/out" && [ "$(cat "$SCRATCH/out")" = 50000 ] && whole
}

# Exact counts have the same bytes, without chance.
counted()
{
    "$JSPROF_TOOL" calls --csv "$SCRATCH/cap" |
        awk -F , -v f="\"$1\"" '$1 == f { print $(NF - 1) }'
}

allocated()
{
    shown alloc && near "$(value three)" "$(counted three)" &&
        near "$(value one)" "$(counted one)" &&
        [ "$(counted three)" = $((3 * $(counted one))) ]
}

# The arrays that stay are all that `keep` made; others may wait for the collector.
live()
{
    shown live && near "$(value keep)" "$(counted keep)" &&
        [ "$(value three)" -lt $(($(counted three) / 3)) ]
}

# The operations in a capture are those of the samples of time: allocations have none.
no_operations()
{
    "$JSPROF_TOOL" annotate --measure alloc --csv "$SCRATCH/cap" three >"$SCRATCH/rows" &&
        awk -F , '$1 == "row" { n++; sum += $6 } $1 == "line" { lines += $6 }
            END { exit !(n > 9 && sum == 0 && lines > 0) }' "$SCRATCH/rows" ||
        { cat "$SCRATCH/rows"; return 1; }
}

one_way() # OPTION
{
    UNDER=$1
    check 'allocations are sampled beside exact calls' recorded "$1" --profile-calls=counts,alloc
    check 'each function has its bytes' allocated
    check 'what the program keeps is live' live
    check 'allocations are sampled without exact calls' recorded "$1"
    check 'they are at no operation' no_operations
    check 'and are as many' sh -c "'$JSPROF_TOOL' report --measure alloc '$SCRATCH/cap' |
        grep -q 'three (.*objects.lark:2)'"
}

# 32 times as far between two samples: so a 32nd of the bytes has the variance that `near` expects.
usual()
{
    "$LARK" --profile-output="$SCRATCH/cap" --profile-alloc --profile-calls=counts,alloc \
        "$SCRATCH/objects.lark" && shown alloc || return 1
    usual_all=$("$JSPROF_TOOL" calls --csv "$SCRATCH/cap" |
        awk -F , '{ all += $(NF - 1) } END { print all }')
    near $(($(value all) / 32)) $((usual_all / 32))
}

one_way --jit=off
one_way --jit=on
UNDER=
check 'the usual distance' usual
check 'a wrong distance is refused' says 2 'lark: *profile-alloc*' "$LARK" --profile-alloc=x \
    "$SCRATCH/objects.lark"
check 'a file is needed' says 2 'lark: --profile-alloc needs --profile-output*' "$LARK" \
    --profile-alloc "$SCRATCH/objects.lark"
finish
