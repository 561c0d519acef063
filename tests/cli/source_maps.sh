#!/bin/sh
# cli/source_maps.sh - code that TypeScript's compiler generated is shown by its sources: in
# reports, annotate and other formats; a map that is broken or too young changes nothing.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

# What tsc --sourceMap --target es5 makes of hot.ts (shortened).
mkdir -p src gen
cat >src/hot.ts <<'END'
interface Shape {
    readonly sides: number;
}

namespace Geometry {
    export function perimeter(shape: Shape, n: number): number {
        let sum = 0;

        for (let i = 0; i < n; i++)
            sum += Math.sqrt(i) * shape.sides;
        return sum;
    }
}
END
cat >gen/hot.js <<'END'
var Geometry;
(function (Geometry) {
    function perimeter(shape, n) {
        var sum = 0;
        for (var i = 0; i < n; i++)
            sum += Math.sqrt(i) * shape.sides;
        return sum;
    }
    Geometry.perimeter = perimeter;
})(Geometry || (Geometry = {}));
//# sourceMappingURL=hot.js.map
END
mappings=$(tr -d '\n' <<'END'
AAIA,IAAU,QAAQ,CAQjB;AARD,WAAU,QAAQ;IACd,SAAgB,SAAS,CAAC,KAAY,EAAE,CAAS;QAC7C,IAAI,GAAG,GA
AG,CAAC,CAAC;QAEZ,KAAK,IAAI,CAAC,GAAG,CAAC,EAAE,CAAC,GAAG,CAAC,EAAE,CAAC,EAAE;YACtB,GAAG,I
AAI,IAAI,CAAC,IAAI,CAAC,CAAC,CAAC,GAAG,KAAK,CAAC,KAAK,CAAC;QACtC,OAAO,GAAG,CAAC;IACf,CAAC;
IANe,kBAAS,YAMxB,CAAA;AACL,CAAC,EARS,QAAQ,KAAR,QAAQ,QAQjB
END
)
write_map() # FILE
{
    printf '{"version":3,"file":"hot.js","sourceRoot":"","sources":["../src/hot.ts"],' >"$1"
    printf '"names":[],"mappings":"%s"}' "$mappings" >>"$1"
}
write_map gen/hot.js.map
old() { find src gen -type f -exec touch -d 2000-01-01 {} +; } # before the capture
old
"$tmp/captures" of 'perimeter (gen/hot.js:3:22)=6' 'perimeter (gen/hot.js:3:22)=5' gen/hot.js=10 \
    'other (plain.js:1:10)=1' >ts.cap
note='jsprof: ts.cap: names and lines of 1 file are from source maps'
note="$note (--no-source-maps shows the recorded ones)"
unused='jsprof: ts.cap: the source map of gen/hot.js is not used:'

run report ts.cap
is_err "$note"
row 'perimeter (src/hot.ts:6:21) :10 50%'
row ' src/hot.ts :'
hasnt hot.js
has 'other (plain.js:1:10)'
run annotate ts.cap perimeter
is_err "$note"
has 'source: src/hot.ts'
row '50.0% 50.0% 10 ms 10 sum += Math.sqrt(i) * shape.sides;'
row '50.0% 50.0% 10 ms 9 for (let i = 0; i < n; i++)'
run annotate ts.cap 'perimeter (gen/hot.js:3:22)' # as it was recorded
has 'source: src/hot.ts'
run report --only hot.js --csv ts.cap
lines 3
run tree --lines ts.cap
has 'perimeter (src/hot.ts:6:21)'
run diff --limit 0 ts.cap ts.cap
has 'perimeter (src/hot.ts:6:21)'
hasnt hot.js
for format in pprof callgrind firefox speedscope folded; do
    run convert --to $format -o - ts.cap
    is_err "$note"
    [ $format != pprof ] || { gzip -d <out >plain && mv plain out; }
    tr '\n\0' '  ' <out >joined
    grep -aqF 'src/hot.ts' joined || wrong 'does not name the source'
    ! grep -aqF 'hot.js' joined || wrong 'names the generated file'
done
run html -o - ts.cap
grep -qF 'src/hot.ts' out || { echo 'html does not name the source'; bad=1; }
run convert --to syscap -o plain.cap ts.cap # a capture stays as it is
grep -aq "gen/hot.js" plain.cap || wrong "changed the names"
run merge -o merged.cap ts.cap ts.cap
grep -aq 'gen/hot.js' merged.cap || wrong 'changed the names'

run report --no-source-maps ts.cap
is_err ''
row 'perimeter (gen/hot.js:3:22) :6 50%'
hasnt hot.ts

# -- Other places ---------------------------------------------------------------
mkdir elsewhere
mv gen/hot.js.map elsewhere
run report ts.cap # a map that is not there is nothing to complain about
is_err ''
has 'perimeter (gen/hot.js:3:22)'
for maps in elsewhere elsewhere/hot.js.map; do
    run report --source-maps $maps ts.cap
    is_err "$note"
    has 'perimeter (src/hot.ts:6:21)'
done
mv gen/hot.js gone.js # the generated file need not be there
run annotate --source-maps elsewhere ts.cap perimeter
row '50.0% 50.0% 10 ms 10 sum += Math.sqrt(i) * shape.sides;'
mv gone.js gen/hot.js
touch gen/hot.js
run report --source-maps elsewhere ts.cap # whoever names it means it
has 'perimeter (src/hot.ts:6:21)'
run report --map "$tmp/gen=/x" --trim-path "$tmp/src" --source-maps elsewhere ts.cap
has 'perimeter (src/hot.ts:6:21)'

# With the source in the map, which is then what annotate shows.
sed -i '$d' gen/hot.js
printf '//# sourceMappingURL=data:application/json;base64,%s' "$(
    printf '{"version":3,"sources":["../src/hot.ts"],"mappings":"%s","sourcesContent":["%s"]}' \
        "$mappings" '1\n2\n3\n4\n5\n6\n7\n8\n9\nembedded' | base64 -w0)" >>gen/hot.js
rm src/hot.ts
old
run annotate ts.cap perimeter
has 'source: src/hot.ts'
row '50.0% 50.0% 10 ms 10 embedded'

# The rows of a listing have lines, too: 20 to 23 are 5 to 8.
printf '{"version":3,"sources":["orig.ts"],"mappings":"%sAAIA;AACA;AACA;AACA"}' \
    ';;;;;;;;;;;;;;;;;;;' >elsewhere/work.js.map
run annotate --csv --source-maps elsewhere listing.cap work
has 'line,"elsewhere/orig.ts",7,,50000000,50000000,""'
has 'row,"elsewhere/orig.ts",6,12,10000000,10000000,'
has 'row,"elsewhere/orig.ts",8,18,0,0,"return"'

# -- What does not fit ----------------------------------------------------------
sed -i '$d' gen/hot.js
echo '//# sourceMappingURL=hot.js.map' >>gen/hot.js
for mapping in 'AAAA;!' ''; do
    printf '{"version":3,"sources":["../src/hot.ts"],"mappings":"%s"' "$mapping" >gen/hot.js.map
    [ -z "$mapping" ] || echo '}' >>gen/hot.js.map
    old
    run report ts.cap
    is_rc 0
    has 'perimeter (gen/hot.js:3:22)'
    [ "$(wc -l <err)" = 1 ] || wrong 'does not complain once'
    grep -qF "$unused it" err || wrong 'does not complain'
done
write_map gen/hot.js.map
touch gen/hot.js
run report ts.cap
is_err "$unused it was changed after the recording (--source-maps uses it all the same)"
has 'perimeter (gen/hot.js:3:22)'
old
printf 'one line\n//# sourceMappingURL=hot.js.map\n' >gen/hot.js
touch -d 2000-01-01 gen/hot.js
run report ts.cap
is_err "$unused it has more lines than the file"
exit $bad
