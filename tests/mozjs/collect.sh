#!/bin/sh
# collect.sh - collections are marks with their reasons and the heap's sizes counters,
# for gjs-console and for the example that embeds SpiderMonkey itself.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

marks() # CAPTURE NAME [REASON]: how many
{
    "$JSPROF_TOOL" dump "$1" | grep -c "  MARK .* GC / $2 ${3:-}"
}

# Values of one counter, in order; no two in a row are the same.
changes() # CAPTURE NUMBER
{
    "$JSPROF_TOOL" dump "$1" | awk -v id="$2" '
        / CTRSET / { on = 1; next }
        on && $1 == id && $2 == "=" { n++; if ($3 == last) same++; last = $3; next }
        { on = 0 }
        END { print n + 0, "values,", same + 0, "repeated"; exit !n || same }'
}

"$GJS" --profile-output=gc.cap -c '
    const System = imports.system;
    let kept = [];
    for (let i = 0; i < 10; i++) {
        kept.push(Array.from({length: 1e5}, (_, j) => ({j})));
        System.gc();
    }
    for (const until = Date.now() + 300; Date.now() < until;) kept.push({});
    print("done");' >out 2>err
check 'the script is as ever' test $? = 0 -a "$(cat out)" = done -a ! -s err
check 'the capture is whole' whole gc.cap
check 'ten collections that the script asked for' test "$(marks gc.cap Collection API)" = 10
check 'each of one slice' test "$(marks gc.cap Slice API)" = 10
check 'and swept' test "$(marks gc.cap Sweep API)" = 10
check 'the nursery, full' test "$(marks gc.cap Nursery OUT_OF_NURSERY)" -ge 3
check "the heap's size, written when it changes" changes gc.cap 1
check "and malloc's" changes gc.cap 2

# -- In the compact form --
BURN_MS=300 "$GJS" --profile-output=small.cap --profile-form=compact "$SCRIPTS/shares.js" \
    >out 2>err
check 'the compact form: whole' compact small.cap
check 'with all names' sh -c "'$JSPROF_TOOL' report --csv small.cap | grep -q '^\"\{0,1\}spin ('"
BURN_MS=300 "$GJS" --profile-output=plain.cap --profile-form=plain "$SCRIPTS/shares.js" >out 2>err
check 'the plain one is not' sh -c "! '$JSPROF_TOOL' dump plain.cap | grep jsprof/stacks"

# -- The example --
EXAMPLE=$B/bin/mozjs-embedded
check 'it has less than 100 lines' test "$(wc -l <"$SRCDIR/examples/mozjs/embedded.cpp")" -lt 100
cat >script.js <<'END'
function burn(n) { let x = 0; for (let i = 0; i < n; i++) x = x * 31 + i & 255; return x; }
function churn() { let a = []; for (let i = 0; i < 300000; i++) a.push({i}); return a.length; }
for (let i = 0; i < 100; i++) burn(300000);
print("burnt", churn());
END
"$EXAMPLE" own.cap script.js >out 2>err
check 'it runs a script' test $? = 0 -a "$(cat out)" = 'burnt 300000' -a ! -s err
check 'and records it' whole own.cap
check 'with its functions' sh -c "'$JSPROF_TOOL' report --csv own.cap | grep -q '^\"\{0,1\}burn ('"
check 'and its collections' test "$(marks own.cap Nursery)" -ge 1
echo 'throw new Error("x")' >script.js
"$EXAMPLE" own.cap script.js >out 2>err
check 'a script that fails: status 1' test $? = 1
"$EXAMPLE" /nonexistent/x.cap script.js >out 2>err
check 'a capture that can not be: said, and run all the same' grep -q 'not recorded' err
"$EXAMPLE" 2>err
check 'wrong usage: status 2' test $? = 2

finish
