#!/bin/sh
# typescript.sh - what TypeScript's compiler makes of hot.ts is shown by hot.ts: its functions,
# its lines and its text, from a map beside the generated file and from one inside it, for a
# script and for a module, whose name is a URL. LONG=1: the same of TypeScript's compiler, which
# compiled itself (half a minute of CPU time).
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
. "$SRCDIR/tests/node/lib.sh"
need typescript
cd "$SCRATCH" || exit 1
cp "$SCRIPTS/hot.ts" .

compile() # FOLDER OPTION...
{
    compile_to=$1
    shift
    "$node" "$modules/typescript/bin/tsc" --outDir "$compile_to" "$@" hot.ts
}

record() # CAPTURE SCRIPT...
{
    record_cap=$1
    shift
    "$GJS" --profile-clock=wall --profile-output="$record_cap" "$@" >out 2>err
    check "$record_cap: whole" whole "$record_cap"
    "$JSPROF_TOOL" report --limit 0 "$record_cap" >"$record_cap.report" 2>"$record_cap.err"
}

shows() # CAPTURE NAME-REGEX [LINE]: the function, and its hottest line
{
    shows_end='( |$)'
    [ $# -lt 3 ] || shows_end=" .*:$3 [0-9]+%"
    check "$1 shows $2 ${3-}" grep -Eq "  $2$shows_end" "$1.report"
    check "$1 does not show what was generated" \
        sh -c "! grep -E ' (perimeter|Base.*|work|area) .*hot.js' $1.report"
    check "$1 says so" grep -q 'names and lines of 1 file are from source maps' "$1.err"
}

annotated() # CAPTURE LINE TEXT
{
    "$JSPROF_TOOL" annotate "$1" perimeter >"$1.lines" 2>&1
    check "annotate $1 shows line $2" grep -Eq "%.* $2  +$3" "$1.lines"
}

check 'tsc --sourceMap' compile old --sourceMap --target es5
record old.cap old/hot.js
shows old.cap 'perimeter \(hot.ts:12:21\)' 16
shows old.cap 'Base.prototype.work \(hot.ts:24:5\)'
shows old.cap 'area \(hot.ts:37:[0-9]+\)'
annotated old.cap 16 'sum \+= Math.sqrt\(i\) \* shape.sides;'

# A module, and the source in the map: the source file need not be there.
check 'tsc --inlineSourceMap' compile new --inlineSourceMap --inlineSources --target es2018
mv hot.ts gone.ts
record new.cap -m new/hot.js
root=$(pwd -P)
shows new.cap "perimeter \\($root/hot.ts:12:21\\)" 16
shows new.cap "work \\($root/hot.ts:24:5\\)"
annotated new.cap 16 'sum \+= Math.sqrt\(i\) \* shape.sides;'
check 'annotate finds the path' grep -q "^source: $root/hot.ts" new.cap.lines

"$JSPROF_TOOL" report --no-source-maps new.cap >plain 2>&1
check '--no-source-maps shows what was recorded' \
    grep -Eq "perimeter \\($root/new/hot.js:[0-9]+:[0-9]+\\)" plain

# Of the functions with their places in a file, how many are in the source at that line. A
# constructor has the name of its class.
in_source() # SOURCE FILE
{
    awk 'FNR == NR { text[FNR] = $0; next }
        match($0, /[^",;]* [(][^()]*typescript[.]js:[0-9]+:[0-9]+[)]/) {
            row = substr($0, RSTART, RLENGTH)
            name = row
            sub(/ [(].*/, "", name)
            sub(/.*[.\/<]/, "", name)
            sub(/.*[.]js:/, "", row)
            if (seen[name, row + 0]++) next
            all++
            good += name == "" || index(text[row + 0], name) || text[row + 0] ~ / constructor[(]/
        }
        END { printf "%d of %d functions are in the source\n", good, all
            exit !(all >= 200 && good >= 0.99 * all) }' "$1" "$2"
}

if [ -n "${LONG:-}" ]; then
    lib=$(cd "$modules/typescript/lib" && pwd -P)
    mkdir itself
    # It complains of some of its types, which are not checked otherwise.
    "$node" "$modules/typescript/bin/tsc" --allowJs --target es2017 --module none \
        --removeComments --sourceMap --lib es2022 --outDir itself "$lib/typescript.js" >tsc.out
    for file in "$lib"/*.d.ts; do ln -s "$file" itself; done
    record itself.cap "$SCRIPTS/tsc.js" "$(pwd -P)/itself"
    check 'tsc, compiled by itself: its result' grep -Eq '^[0-9]{5} 0 ' out
    check 'tsc: the report says so' grep -q 'of 1 file are from source maps' itself.cap.err
    "$JSPROF_TOOL" report --csv --limit 0 itself.cap >itself.csv 2>/dev/null
    check 'tsc: names and lines' in_source "$lib/typescript.js" itself.csv
    "$JSPROF_TOOL" convert --to folded itself.cap >itself.folded 2>/dev/null
    tr ';' '\n' <itself.folded >itself.frames
    check 'tsc: names and lines of an export' \
        in_source "$lib/typescript.js" itself.frames
    "$JSPROF_TOOL" annotate itself.cap getPropertyOfType >itself.lines 2>&1
    check 'tsc: annotate shows the source' \
        grep -Eq '[0-9]+  +function getPropertyOfType[(]type, name' itself.lines
fi

finish
