#!/bin/sh
# allocations.sh - samples of the objects that scripts create: shares, sums, types and live bytes
# against what the script knows, with the compilers at work.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# Three functions create 100, 200 and 400 objects in a turn, and `keep` creates those that stay.
# A literal of four properties and an array of two elements both have 56 bytes, in all versions.
cat >garbage.js <<'END'
const TURNS = 2000, KEPT = 100000, kept = new Array(KEPT);
let sink = null;
function objects() { for (let i = 0; i < 100; i++) sink = {a: i, b: i, c: i, d: i}; }
function arrays() { for (let i = 0; i < 200; i++) sink = [i, i]; }
function made(i) { return {a: i, b: i, c: i, d: i}; }
function calls() { for (let i = 0; i < 400; i++) sink = made(i); }
function strings() { for (let i = 0; i < 400; i++) sink = 'number ' + i; }
function keep() { for (let i = 0; i < KEPT; i++) kept[i] = {a: i, b: i, c: i, d: i}; }
for (let turn = 0; turn < TURNS; turn++) { objects(); arrays(); calls(); strings(); }
keep();
sink = null;
imports.system.gc();
print(kept.length);
END
BYTES=56
ALL=$((2000 * 700 * BYTES))
KEPT=$((100000 * BYTES))

bytes() # MEASURE OPTION...: lines of function and bytes of its own, and "all" with their sum
{
    bytes_of=$1
    shift
    "$JSPROF_TOOL" report --measure "$bytes_of" --json --limit 0 "$@" cap | tr '{' '\n' |
        sed -n 's/.*"function":"\([^"]*\)".*"self":\([0-9]*\).*/\1\t\2/p' |
        awk -F '\t' '{ name = $1; sub(/ \(.*/, "", name); n[name] += $2; all += $2 }
            END { for (f in n) print f "\t" n[f]; print "all\t" all }' >bytes
    cat bytes
}

value() # FUNCTION...: the sum of their bytes
{
    for value_of; do
        awk -F '\t' -v f="$value_of" '$1 == f { print $2 }' bytes
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

# Is the value within five standard deviations? A sample represents 16384 bytes, or little more.
near() # VALUE WANTED
{
    echo "$1, wanted $2"
    awk -v got="$1" -v want="$2" 'BEGIN {
        d = got - want; exit !(want > 0 && d * d < 25 * want * 17000) }'
}

exactly() # the bytes that the binding reported
{
    "$JSPROF_TOOL" dump cap | sed -n 's/.*thread id=0 .* alloc_bytes=\([0-9]*\).*/\1/p' |
        tail -n 1
}

taken() # PROGRAM...
{
    rm -f cap
    "$@" garbage.js >out 2>err
    cat out err
    [ "$(cat out)" = 100000 ] && [ ! -s err ] && whole cap
}

# A compiler may have put `made` into its caller, but it is still a frame.
shares()
{
    bytes alloc
    near "$(value objects)" $((ALL / 7)) && near "$(value arrays)" $((ALL * 2 / 7)) &&
        near "$(value made)" $((ALL * 4 / 7)) && near "$(value keep)" "$KEPT" &&
        [ "$(value strings)" -le 50000 ]
}

sums()
{
    bytes alloc
    near "$(value all)" "$(exactly)"
}

types()
{
    bytes alloc --native
    near "$(value '[new Array]')" $((ALL * 2 / 7)) &&
        near "$(value '[new Object]')" $((ALL * 5 / 7 + KEPT))
}

# One of each kind at most outlives the last collection; the rest of the sum has the modules of gjs.
live()
{
    bytes live
    near "$(value keep)" "$KEPT" && [ "$(value objects arrays made)" -le 50000 ]
}

compiled()
{
    "$JSPROF_TOOL" report --measure alloc --csv cap | grep -E 'objects|arrays' | grep jit
}

callers()
{
    "$JSPROF_TOOL" convert --to folded --measure alloc -o folded cap && grep objects folded &&
        grep -E 'calls \(.*;made \([^;]* [0-9]+$' folded
}

info_says() # TEXT
{
    "$JSPROF_TOOL" info cap | grep -E "allocated +[0-9,]+ sampled allocations, one in each $1"
}

by_environment()
{
    rm -f cap
    JSPROF=$SCRATCH/cap JSPROF_ALLOC=1 "$GJS" garbage.js >/dev/null && whole cap &&
        info_says '512 KiB' && bytes alloc && [ "$(value arrays)" -gt 0 ]
}

not_asked()
{
    rm -f cap
    "$GJS" --profile-output=cap garbage.js >/dev/null && whole cap &&
        ! "$JSPROF_TOOL" info cap | grep allocated
}

for program in gjs-console jsprof-gjs; do
    record="$B/bin/$program --profile-output=cap"
    [ $program = gjs-console ] && stock='' || stock='-- gjs-console'
    UNDER=$program
    # shellcheck disable=SC2086
    {
        check 'objects are sampled' taken $record --profile-alloc=16384 $stock
        check 'functions have the shares of what they create' shares
        check 'they add up to what was created' sums
        check 'with --native the types are shown' types
        check 'live bytes are those of the objects that stay' live
        check 'compiled functions are among them' compiled
        check 'an export has callers and callees' callers
        check 'without a value' taken $record --profile-alloc $stock
        check 'it is one in each 512 KiB' info_says '512 KiB'
    }
done
UNDER=
check 'JSPROF_ALLOC asks for them' by_environment
check 'nothing is sampled that nobody asked for' not_asked
finish
