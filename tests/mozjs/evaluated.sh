#!/bin/sh
# evaluated.sh - functions of evaluated code have the name that it gives itself by a comment
# `//# sourceURL=NAME`, or SpiderMonkey's where that is not sure.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# `load` evaluates several texts at one place, as a loader does; "same" is at the same column of
# two of them, and "unnamed" of a text without the comment.
cat >texts.js <<'END_OF_SCRIPT'
const TURNS = +(imports.gi.GLib.getenv('TURNS') || 100);
const work = 'for (const until = Date.now() + 1; Date.now() < until;) globalThis.sink = {until};';
function load(text) {
    return (0, eval)(text);
}
load('function first() { ' + work + ' }\nfunction same() { ' + work + ' }\n' +
    '//# sourceURL=lib/first.js');
const first_same = same;
load('\n// \u00e4\n  const second = (a, b) => { ' + work + ' };\nglobalThis.second = second;\n' +
    'class Shape {\n    area() { ' + work + ' }\n}\nglobalThis.shape = new Shape();\n' +
    '//# sourceURL=http://localhost/second.js\n');
load('\nfunction same() { ' + work + ' }\n//@ sourceURL=third.js');
load('\n\n\n   function unnamed() { ' + work + ' }');
eval('function alone() { ' + work + ' }\nglobalThis.alone = alone;' +
    'globalThis.inner = eval("(function inner() { ' + work + ' })\\n//# sourceURL=inner.js");' +
    '\n//# sourceURL=alone.js');
const built = new Function('a', work + '\n//# sourceURL=built.js');
const none = eval('(function none() { ' + work + ' "//# sourceURL=never" })');
try {
    eval('throw new Error();\n//# sourceURL=thrown.js');
} catch (e) {
    print(e.stack.split('\n')[0].replace(/:[0-9:]*$/, ''));
}
for (let turn = 0; turn < TURNS; turn++) {
    for (const f of [first, first_same, second, same, unnamed, alone, inner, built, none])
        f();
    shape.area();
}
END_OF_SCRIPT

# Each function has its time in this file: a tenth of all.
named() # NAME WHERE
{
    "$JSPROF_TOOL" report --limit=0 --csv cap >report.csv
    awk -F '","' -v name="$1" -v where="$2" '
        $0 !~ /eval|js/ { next }
        index($0, "\"" name " (" where ":") { n++ }
        END { exit n != 1 }' report.csv
    named_status=$?
    [ "$named_status" = 0 ] || grep "$1" report.csv
    return "$named_status"
}

each() # WHAT
{
    UNDER=$1
    check 'the script prints what it prints elsewhere' same_text want out
    check 'whole' whole cap
    check 'a function of a text that names itself' named first lib/first.js
    check 'an arrow function of another text, evaluated at the same place' \
        named second http://localhost/second.js
    check 'a method' named area http://localhost/second.js
    check 'functions at one column of two texts keep the place of the eval' \
        named same "texts.js line 4 > eval"
    check 'so does one of a text without a name' named unnamed "texts.js line 4 > eval"
    check 'a function that was evaluated in place' named alone alone.js
    check 'and one that this one evaluated' named inner inner.js
    check 'a function that was built of text' named anonymous built.js
    check 'a comment in a string is none' named none "texts.js line 18 > eval"
}

gjs-console texts.js >want 2>&1
check 'SpiderMonkey knows the name' grep -q 'thrown\.js' want
"$GJS" --profile-clock=wall --profile-output=cap texts.js >out 2>&1
each compiled
GJS_DISABLE_JIT=1 "$GJS" --profile-clock=wall --profile-output=cap texts.js >out 2>&1
each interpreted

# Collections begin in evaluated code.
UNDER=
cat >collects.js <<'END_OF_SCRIPT'
eval('function collects() { for (let i = 0; i < 100; i++) imports.system.gc(); }\ncollects();' +
    '\n//# sourceURL=collects-itself.js');
END_OF_SCRIPT
"$GJS" --profile-clock=wall --profile-output=cap collects.js >out 2>&1
check 'collections have their caller by its name' named collects collects-itself.js

# Exact counts have the same names; there a function has no column.
cat >counted.js <<'END_OF_SCRIPT'
function load(text) {
    return (0, eval)(text);
}
load('function first() {}\nfunction same() {}\n' +
    'for (let i = 0; i < 21; i++) { first(); same(); }\n//# sourceURL=lib/first.js');
load('\nfunction same() {}\nclass Shape {\n    area() {}\n}\n' +
    'for (let i = 0; i < 23; i++) { new Shape().area(); same(); }\n//# sourceURL=lib/second.js');
eval('function alone() {}\nfor (let i = 0; i < 25; i++) alone();\n//# sourceURL=alone.js');
END_OF_SCRIPT
"$GJS" --profile-calls=on --profile-output=counted.cap counted.js >out 2>&1
"$JSPROF_TOOL" calls --limit=0 --csv counted.cap >calls.csv
counted() # NAME FILE LINE COUNT
{
    grep -F "\"$1\",\"$2\",$3,vm,$4," calls.csv || { grep eval calls.csv; false; }
}
check 'counts: a function of a text that names itself' counted first lib/first.js 1 21
check 'counts: a method of another text' counted area lib/second.js 4 23
check 'counts: a function that was evaluated in place' counted alone alone.js 1 25
check 'counts: one of a line of two texts keeps the place of the eval' \
    sh -c 'grep "^\"same\"" calls.csv | grep -q "counted.js line 2 > eval"'

# More texts and labels than the binding keeps: names are missing, and none is wrong.
cat >many.js <<'END_OF_SCRIPT'
function load(text) {
    return (0, eval)(text);
}
const all = [];
for (let i = 0; i < 3000; i++) {
    load(`function ${'f' + i}() {` +
        ' let x = 0; for (let k = 0; k < 20000; k++) x += k; return x; }\n' +
        `globalThis.f = ${'f' + i};\n//# sourceURL=name-f${i}.js`);
    all.push(f);
}
for (let n = 0; n < 10; n++) all.forEach(f => f());
END_OF_SCRIPT
"$GJS" --profile-output=cap many.js >out 2>&1
check 'thousands of texts: nothing printed' test ! -s out
check 'and whole' whole cap
"$JSPROF_TOOL" report --limit=0 --csv cap >report.csv
wrong_names()
{
    sed -n 's/.*"\(f[0-9]*\) (name-\(f[0-9]*\)\.js.*/\1 \2/p' report.csv | awk '$1 != $2'
}
check 'no name is that of another text' test -z "$(wrong_names)"

finish
