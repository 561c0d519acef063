#!/bin/sh
# lark/errors.sh - what is wrong with a program, or with the command, is said in one
# line, with file and line, and ends with the right status.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

wrong() # LINE MESSAGE, the program on stdin
{
    cat >wrong.lark
    check "line $1: $2" says 1 "wrong.lark:$1: $2" "$LARK" --jit=off wrong.lark
    check "line $1: $2, natively" \
        says 1 "wrong.lark:$1: $2" "$LARK" --jit-threshold=1 wrong.lark
}

wrong 1 "expected ';' before 'let'" <<'END'
let x = 1 let y = 2;
END
wrong 2 "unknown name 'y'" <<'END'
let x = 1;
print(x, y);
END
wrong 2 'string without an end' <<'END'
let x = 1;
let y = "abc
END
wrong 2 "expected '}' before the end of the file" <<'END'
fn f() { return 1;
END
wrong 1 'unexpected character' <<'END'
let x = 1 @ 2;
END
wrong 1 'malformed number' <<'END'
let x = 12ab;
END
wrong 1 'integer does not fit in 64 bits' <<'END'
let x = 9223372036854775808;
END
wrong 1 'not in a loop' <<'END'
break;
END
wrong 2 'declared twice*' <<'END'
let x = 1;
let x = 2;
END
wrong 1 'declared twice*' <<'END'
fn print(x) {}
END
wrong 1 "'+=' and '-=' need a variable" <<'END'
let a = [1]; a[0] += 1;
END
wrong 2 'division by zero' <<'END'
fn f(x) {
    return 1 / x;
}
f(0);
END
wrong 1 "no '+' of int and string" <<'END'
print(1 + "a");
END
wrong 1 "no '&' of double and int" <<'END'
print(1.0 & 1);
END
wrong 1 "no '<' of nil and int" <<'END'
print(nil < 1);
END
wrong 1 "no '-' of string" <<'END'
print(-"a");
END
wrong 3 'index 3 is outside of 0..2' <<'END'
let a = [1, 2, 3];
let i = 3;
a[i] = a[0];
END
wrong 2 'index 3 is outside of 0..2' <<'END'
let a = [1, 2, 3];
print(a[3]);
END
wrong 2 'index -1 is outside of 0..2' <<'END'
let a = [1, 2, 3];
print(a[-1]);
END
wrong 1 'an index is an int, not double' <<'END'
print([1][0.0]);
END
wrong 1 'no index into int' <<'END'
print(1[0]);
END
wrong 1 'index -1 is outside of 0..2' <<'END'
print("abc"[-1]);
END
wrong 1 'f takes 1 argument, not 2' <<'END'
fn f(x) {} f(1, 2);
END
wrong 1 'no call of int' <<'END'
let x = 1; x();
END
wrong 1 'len wants a string or an array, not int' <<'END'
len(1);
END
wrong 1 'push wants array as argument 1, not nil' <<'END'
push(nil, 1);
END
wrong 2 'no such thing' <<'END'
sort([2, 1],
     fn (a, b) { error("no such thing"); });
END
wrong 1 '/nonexistent: No such file or directory' <<'END'
read("/nonexistent");
END
wrong 1 'too many calls within calls' <<'END'
fn f(n) { return f(n + 1); } f(0);
END
wrong 2 'too many calls within calls' <<'END'
fn outer(n) {
    return sort([1, 2], inner);
}
fn inner(a, b) { return outer(a); }
outer(1);
END
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
