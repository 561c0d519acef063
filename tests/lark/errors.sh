#!/bin/sh
# lark/errors.sh - what is wrong with a program, or with the command, is said in one
# line, with file and line, and ends with the right status.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

wrong() # LINE MESSAGE: of wrong.lark
{
    check "line $1: $2" says 1 "wrong.lark:$1: $2" "$LARK" --jit=off wrong.lark
    check "line $1: $2, natively" \
        says 1 "wrong.lark:$1: $2" "$LARK" --jit-threshold=1 wrong.lark
}

# The line, the message, and the program; \n ends its lines.
while IFS='|' read -r line message program; do
    printf '%b\n' "$program" >wrong.lark
    wrong "$line" "$message"
done <<'END'
1|expected ';' before 'let'|let x = 1 let y = 2;
2|unknown name 'y'|let x = 1;\nprint(x, y);
2|string without an end|let x = 1;\nlet y = "abc
2|expected '}' before the end of the file|fn f() { return 1;
1|unexpected character|let x = 1 @ 2;
1|malformed number|let x = 12ab;
1|integer does not fit in 64 bits|let x = 9223372036854775808;
1|not in a loop|break;
2|declared twice*|let x = 1;\nlet x = 2;
1|declared twice*|fn print(x) {}
1|'+=' and '-=' need a variable|let a = [1]; a[0] += 1;
2|division by zero|fn f(x) {\n    return 1 / x;\n}\nf(0);
1|no '+' of int and string|print(1 + "a");
1|no '&' of double and int|print(1.0 & 1);
1|no '<' of nil and int|print(nil < 1);
1|no '-' of string|print(-"a");
3|index 3 is outside of 0..2|let a = [1, 2, 3];\nlet i = 3;\na[i] = a[0];
2|index 3 is outside of 0..2|let a = [1, 2, 3];\nprint(a[3]);
1|index -1 is outside of 0..0|fn f(a, i) { return a[i]; } f([1], -1);
1|an index is an int, not double|print([1][0.0]);
1|no index into int|print(1[0]);
1|index -1 is outside of 0..2|print("abc"[-1]);
1|f takes 1 argument, not 2|fn f(x) {} f(1, 2);
1|no call of int|let x = 1; x();
1|len wants a string or an array, not int|len(1);
1|push wants array as argument 1, not nil|push(nil, 1);
2|no such thing|sort([2, 1],\n     fn (a, b) { error("no such thing"); });
1|/nonexistent: No such file or directory|read("/nonexistent");
1|too many calls within calls|fn f(n) { return f(n + 1); } f(0);
END
printf '%s\n' 'fn outer(n) {' 'return sort([1, 2], inner);' '}' \
    'fn inner(a, b) { return outer(a); }' 'outer(1);' >wrong.lark
wrong 2 'too many calls within calls'
check 'an error within calls is traced' grep -q '^  in inner (wrong.lark:4)' says.err
check 'a long trace is cut' [ "$(wc -l <says.err)" -lt 12 ]
check 'a small C stack is an error, no crash' sh -c \
    "ulimit -s 1024; '$LARK' wrong.lark 2>&1 | grep -q 'too many calls'"

# A chain of brackets, and one of arrays, deeper than any stack.
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "("; print "1" }' >deep.lark
check 'an expression nested too deeply' \
    says 1 'deep.lark:1: nested too deeply' "$LARK" deep.lark
cat >chain.lark <<'END'
let a = [];
for i = 0, 1000000 { a = [a]; }
print(len(a));
END
check 'a long chain of arrays is collected' "$LARK" chain.lark
printf 'print(1);\0print(2);' >zero.lark
check 'a zero byte' says 1 'zero.lark:1: unexpected character' "$LARK" zero.lark

check 'no script' says 2 'lark: no script (see lark --help)' "$LARK"
check 'unknown option' says 2 'lark: unknown option --nope*' "$LARK" --nope
check 'bad rate' \
    says 2 'lark: --profile-hz=0: a whole number from 1 to 10000 is allowed*' \
    "$LARK" --profile-hz=0 x
check 'bad clock' says 2 'lark: --profile-clock=sun: cpu or wall is allowed*' \
    "$LARK" --profile-clock=sun x
check 'empty file name' says 2 'lark: no file*' "$LARK" --profile-output= x
check 'missing script' \
    says 1 'lark: absent.lark: No such file or directory' "$LARK" absent.lark
check 'a directory' says 1 'lark: .: Is a directory' "$LARK" .
check 'help' sh -c "'$LARK' --help | grep -q '^usage: lark '"
check 'version' sh -c "'$LARK' --version | grep -q '^lark [0-9]'"

echo 'print("ran");' >ran.lark
check 'no profile: said with path and reason' says 1 \
    'lark: no profile: /nonexistent/x.cap: no such file or directory' \
    "$LARK" --profile-output=/nonexistent/x.cap ran.lark
check 'a bad environment is said, with variable, value and what is allowed' says 1 \
    'lark: no profile: JSPROF_HZ=fast: a whole number from 1 to 10000 is allowed' \
    env JSPROF=x.cap JSPROF_HZ=fast "$LARK" ran.lark
check 'standard output full' says 1 'lark: standard output: No space left on device' \
    sh -c "'$LARK' ran.lark >/dev/full"
finish
