#!/bin/sh
# lark/jit.sh - native code prints what the interpreter prints, in any amount of memory
# for it, and that memory is reused.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

stats() # PATTERN OPTION...
{
    stats_pattern=$1
    shift
    "$LARK" --jit-stats "$@" 2>&1 >/dev/null | grep -E "$stats_pattern" && return
    "$LARK" --jit-stats "$@" 2>&1 >/dev/null
    return 1
}

some='[1-9][0-9]*'
if ! "$LARK" --jit-stats --jit-threshold=1 "$PROGRAMS/fib.lark" 2>&1 >/dev/null |
    grep -q " $some compiled"; then
    case $(uname -m) in
    x86_64 | aarch64) echo 'not ok - nothing is compiled'; exit 1 ;;
    *) echo 'SKIP: needs x86-64 or aarch64'; exit 77 ;;
    esac
fi

{
    runs | while read -r name args; do
        echo "$DATA/$name.out $PROGRAMS/$name.lark $args"
    done
    echo "$DATA/language.out $DATA/language.lark"
} >"$SCRATCH/all"
for options in --jit=off --jit=on --jit-threshold=1 \
    '--jit-threshold=3 --jit-cache-bytes=6000' \
    '--jit-threshold=1 --jit-cache-bytes=20000'; do
    while read -r expected program args; do
        # shellcheck disable=SC2086
        check "${program##*/} with $options" \
            same_output "$expected" $options "$program" $args
    done <"$SCRATCH/all"
done

check 'nothing is compiled when it is off' stats '^lark: jit: off$' --jit=off \
    "$PROGRAMS/fib.lark"
check 'nothing is compiled below the threshold' \
    stats ' 0 compiled' --jit-threshold=1000000000 \
    "$PROGRAMS/fib.lark"
check 'a loop is compiled while it runs' \
    stats " $some compiled" "$PROGRAMS/shares.lark" 0.2
check 'a large memory keeps all code' \
    stats " $some compiled, 0 discarded" --jit-threshold=1 \
    "$PROGRAMS/markdown.lark" "$DATA/page.md"
check 'a small memory is reused' \
    stats " $some compiled, [0-9]{3,} discarded" --jit-threshold=1 \
    --jit-cache-bytes=9000 "$PROGRAMS/markdown.lark" "$DATA/page.md" 50
check 'no memory: refused, and run by the interpreter' \
    stats " 0 compiled, 0 discarded, $some refused" \
    --jit-threshold=1 --jit-cache-bytes=16 "$PROGRAMS/fib.lark"

# Nothing may be writable and executable.
cat >"$SCRATCH/maps.lark" <<'END'
fn f(x) { return x + 1; }
for i = 0, 1000 { f(i); }
write(read("/proc/self/maps"));
END
check 'no page is writable and executable' sh -c \
    "'$LARK' --jit-threshold=1 '$SCRATCH/maps.lark' >'$SCRATCH/maps' &&
     grep -Eq ' r-xp 00000000 00:00 0 *\$' '$SCRATCH/maps' &&
     ! grep ' [r-]wx' '$SCRATCH/maps'"

cat >"$SCRATCH/deep.lark" <<'END'
fn f(n) {
    return f(n + 1) + 1;
}
f(0);
END
check 'too deep is an error in native code' \
    says 1 '*/deep.lark:2: too many calls within calls' \
    "$LARK" --jit-threshold=1 "$SCRATCH/deep.lark"
check 'its trace is native as well' \
    [ "$(grep -c '  in f (.*deep.lark:2)' "$SCRATCH/says.err")" = 8 ]
check 'bad --jit' says 2 'lark: --jit wants on or off, not maybe*' "$LARK" --jit=maybe x
check 'bad --jit-rows' says 2 'lark: --jit-rows wants on or off, not 1*' "$LARK" --jit-rows=1 x
check 'bad threshold' \
    says 2 'lark: --jit-threshold wants*not 0*' "$LARK" --jit-threshold=0 x
check 'bad cache' \
    says 2 'lark: --jit-cache-bytes wants*not -1*' "$LARK" --jit-cache-bytes=-1 x
finish
