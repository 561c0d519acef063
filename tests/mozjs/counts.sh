#!/bin/sh
# counts.sh - --profile-calls counts every call of every function, however the script ends,
# and changes nothing else of it.
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

for way in '' exit throws; do
    gjs-console counted.js $way >want.out 2>want.err
    want=$?
    rm -f calls.txt
    "$GJS" --profile-calls=calls.txt counted.js $way >got.out 2>got.err
    check "$way: status" test $? = $want
    check "$way: output" same_text want.out got.out
    check "$way: messages" same_text want.err got.err
    check "$way: recursion" counted 21891 fib 2 # calls of fib(20)
    check "$way: an arrow function" counted 12 twice 5
    check "$way: a method" counted 12 area 7
    check "$way: what was never called is not there" sh -c '! grep never calls.txt'
done

"$GJS" --profile-calls=calls.txt --profile-output=both.cap counted.js >out 2>err
check 'beside a recording: the counts' counted 21891 fib 2
check 'and the recording' whole both.cap
for path in /nonexistent/x ''; do
    "$GJS" --profile-calls=$path -c 'print("ran")' >out 2>err
    check "--profile-calls=$path: refused before the script" test $? = 1 -a ! -s out
    check "--profile-calls=$path: in one line" one_line err '^gjs-console: --profile-calls: '
done
"$GJS" --profile-calls=/dev/full -c 'print("ran")' >out 2>err
check 'a full disk is told, the script runs' test "$(cat out)" = ran
check 'in one line' one_line err '^gjs-console: --profile-calls: /dev/full: No space left'

finish
