#!/bin/sh
# counts.sh - --profile-calls counts every call of every function, however the script ends,
# in a table and in the capture, and changes nothing else of it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

cat >counted.js <<'END'
const {GLib} = imports.gi;
function fib(n) {
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
const twice = x => x * 2;
class Shape {
    area() { return twice(1); }
}
for (let i = 0; i < 12; i++) new Shape().area();
function never() {}
print(fib(20), GLib.getenv('GJS_DISABLE_JIT'));
const table = {
    f: [
        x => x + 1,
        x => x + 2,
        () => {
            throw new Error('never');
        },
    ],
};
for (let i = 0; i < 3000; i++) table.f[i % 2 && i > 1000 ? 0 : 1](i);
const only = [
    () => {
        throw new Error('never');
    },
    x => {
        return x;
    },
];
for (let i = 0; i < 7; i++) only[1](i);
if (ARGV[0] === 'exit') {
    GLib.idle_add(0, () => imports.system.exit(4));
    new GLib.MainLoop(null, false).run();
}
if (ARGV[0] === 'throws')
    throw new Error('thrown');
END

counted() # COUNT NAME LINE
{
    cat calls.txt
    grep -q "^ *$1  $2 (counted.js:$3)\$" calls.txt
}

in_capture() # CAPTURE COUNT NAME LINE
{
    "$JSPROF_TOOL" calls --csv --limit=0 "$1" >calls.csv || return 1
    cat calls.csv
    grep -Fq "\"$3\",\"counted.js\",$4,vm,$2," calls.csv
}

# Some of the functions without a name, and of those of one name, are never called.
cat >arrows.js <<'END'
const {GLib} = imports.gi;
[1, 2, 3].map(x => x + 1);
[1, 2].forEach(x => {
    [5, 6, 7, 8].map(y => y * x);
});
let f = () => 1;
f(); f(); f();
f = () => 2;
f();
setTimeout(() => {
    throw 1;
}, 1e9);
const o = {g: () => 3};
o.g(); o.g();
(() => { print('x'); })();
const never = [() => 4, () => {
    throw 2;
}];
[1, 2, 3, 4, 5].map(x => -x);
f = () => 6;
imports.system.exit(never.length - 2);
END
"$GJS" --profile-calls=calls.txt arrows.js >out 2>err
for want in '1:top-level:1' '3:top-level:2' '2:top-level:3' '8:top-level:4' '3:f:6' '1:f:8' \
    '2:g:13' '1:top-level:15' '5:top-level:19'; do
    check "arrows: $want" grep -q \
        "^ *${want%%:*}  $(echo "${want#*:}" | sed 's/:/ (arrows.js:/'))\$" calls.txt
done
check 'arrows: no other row' test "$(grep -c arrows.js calls.txt)" = 9

for way in '' exit throws; do
    gjs-console counted.js $way >want.out 2>want.err
    want=$?
    rm -f calls.txt
    "$GJS" --profile-calls=calls.txt --profile-output=both.cap counted.js $way >got.out \
        2>got.err
    check "$way: status" test $? = $want
    check "$way: output" same_text want.out got.out
    check "$way: messages" same_text want.err got.err
    check "$way: recursion" counted 21891 fib 2 # calls of fib(20)
    check "$way: an arrow function" counted 12 twice 5
    check "$way: a method" counted 12 area 7
    check "$way: one of two functions of a name" counted 1000 'table.f<' 14
    check "$way: the other one" counted 2000 'table.f<' 15
    check "$way: one of a name of which another was never called" counted 7 'only<' 26
    check "$way: what was never called is not there" sh -c '! grep never calls.txt'
    check "$way: the recording beside it" whole both.cap
    check "$way: the counts are in it" in_capture both.cap 21891 fib 2
    check "$way: with their lines" in_capture both.cap 2000 'table.f<' 15

    rm -f gjs.cap
    "$B/bin/jsprof-gjs" --profile-output=gjs.cap --profile-calls=on gjs-console counted.js $way \
        >got.out 2>got.err
    check "jsprof-gjs $way: status" test $? = $want
    check "jsprof-gjs $way: output" same_text want.out got.out
    check "jsprof-gjs $way: messages" same_text want.err got.err
    check "jsprof-gjs $way: the recording" whole gjs.cap
    check "jsprof-gjs $way: the counts" in_capture gjs.cap 21891 fib 2
    check "jsprof-gjs $way: with their lines" in_capture gjs.cap 2000 'table.f<' 15
done

"$GJS" --profile-calls=calls.txt counted.js >out 2>err
check 'without a recording: the counts' counted 21891 fib 2
"$GJS" --profile-calls=on --profile-output=on.cap counted.js >out 2>err
check '--profile-calls=on: the counts are in the capture' in_capture on.cap 21891 fib 2
check 'and nowhere else' test ! -e on
"$GJS" --profile-calls=on counted.js >out 2>err
check '--profile-calls=on: refused without a capture' test $? = 1 -a ! -s out
check 'in one line' one_line err '^gjs-console: --profile-calls=on: needs --profile-output=FILE'
"$B/bin/jsprof-gjs" --profile-output=x.cap --profile-calls=x.txt gjs-console counted.js \
    >out 2>err
check 'jsprof-gjs takes no other value' test $? = 2 -a ! -s out
check 'in one line' one_line err '^jsprof-gjs: --profile-calls=x.txt: not on;'
for path in /nonexistent/x ''; do
    "$GJS" --profile-calls=$path -c 'print("ran")' >out 2>err
    check "--profile-calls=$path: refused before the script" test $? = 1 -a ! -s out
    check "--profile-calls=$path: in one line" one_line err '^gjs-console: --profile-calls: '
done
for path in - /dev/stdout out err; do
    "$GJS" --profile-calls=$path -c 'print("ran")' >out 2>err
    check "--profile-calls=$path: refused before the script" test $? = 1 -a ! -s out
    check "--profile-calls=$path: in one line" one_line err \
        "^gjs-console: --profile-calls=$path: the program prints there;"
done
check 'and no file is named -' test ! -e ./-
"$GJS" --profile-calls=/dev/full -c 'print("ran")' >out 2>err
check 'a full disk is told, the script runs' test "$(cat out)" = ran
check 'in one line' one_line err '^gjs-console: --profile-calls: /dev/full: No space left'

finish
