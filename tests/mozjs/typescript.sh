#!/bin/sh
# typescript.sh - what TypeScript's compiler makes of hot.ts is shown by hot.ts: its functions,
# its lines and its text, from a map beside the generated file and from one inside it, for a
# script and for a module, whose name is a URL.
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

finish
