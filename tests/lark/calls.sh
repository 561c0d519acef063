#!/bin/sh
# lark/calls.sh - the calls of a real interpreter with a JIT, counted exactly: the same
# numbers however it runs, and sums that add up.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

# fib(20) takes 2 * fib(21) - 1 calls of fib.
fib_counted() # OPTION...
{
    "$LARK" --profile-calls --profile-output="$SCRATCH/fib.cap" "$@" \
        "$PROGRAMS/fib.lark" 20 >/dev/null &&
        "$JSPROF_TOOL" calls --csv "$SCRATCH/fib.cap" >"$SCRATCH/fib.csv" &&
        grep -q '^"fib",.*,5,vm,21891,' "$SCRATCH/fib.csv" &&
        grep -q '^"main",.*,1,vm,1,' "$SCRATCH/fib.csv" &&
        grep -q '^"print",.*,0,label,1,' "$SCRATCH/fib.csv"
}
check 'fib is called as often as it is, interpreted' fib_counted --jit=off
check 'fib is called as often as it is, compiled' fib_counted
check 'fib is called as often as it is, compiled at once' fib_counted --jit-threshold=1
check 'fib is called as often as it is, code memory reused' \
    fib_counted --jit-cache-bytes=3000
check 'fib is called as often as it is, counts alone' fib_counted --profile-calls=counts

sort_counted() # NAME OPTION...
{
    sort_name=$1
    shift
    "$LARK" --profile-calls --profile-output="$SCRATCH/$sort_name.cap" "$@" \
        "$PROGRAMS/quicksort.lark" 20000 >/dev/null &&
        "$JSPROF_TOOL" calls --json "$SCRATCH/$sort_name.cap" >"$SCRATCH/$sort_name.json" &&
        "$JSPROF_TOOL" calls --csv --sort name "$SCRATCH/$sort_name.cap" |
        awk -F, '$4 == "vm" { print $1, $5 }' >"$SCRATCH/$sort_name.counts"
}
check 'recorded, interpreted' sort_counted plain --jit=off
check 'recorded, compiled' sort_counted native --jit-cache-bytes=9000
check 'both counted the same' diff "$SCRATCH/plain.counts" "$SCRATCH/native.counts"

adds_up() # NAME
{
    python3 - "$SCRATCH/$1.json" <<'END'
import json, sys
c = json.load(open(sys.argv[1]))
functions = {f['id']: f for f in c['functions']}
called = dict.fromkeys(functions, 0)
for e in c['edges']:
    called[e['callee_id']] += e['calls']
off = [f['function'] for f in c['functions'] if called[f['id']] != f['calls']]
self_ns = sum(f['self_ns'] for f in c['functions'])
print(c['calls'], 'calls,', self_ns, 'ns of self,', c['inside_ns'], 'inside, not equal:', off)
assert not off
assert sum(called.values()) == c['calls'] == sum(f['calls'] for f in c['functions'])
assert abs(self_ns - c['inside_ns']) <= len(functions) + c['own_cost_beyond_ns']
assert sum(f['self_bytes'] for f in c['functions']) == c['bytes'] > 0
main = next(f for f in c['functions'] if f['function'] == 'main')
assert abs(main['total_ns'] - c['inside_ns']) < 0.01 * c['inside_ns'] + 1e6
END
}
if command -v python3 >/dev/null; then
    check 'edges, self times and bytes add up, interpreted' adds_up plain
    cat "$SCRATCH/check.out"
    check 'edges, self times and bytes add up, compiled' adds_up native
    cat "$SCRATCH/check.out"
fi

collects()
{
    "$LARK" --profile-calls --profile-output="$SCRATCH/gc.cap" "$PROGRAMS/markdown.lark" \
        "$DATA/page.md" 300 >/dev/null &&
        "$JSPROF_TOOL" calls --csv "$SCRATCH/gc.cap" >"$SCRATCH/gc.csv" &&
        awk -F, '$1 == "\"garbage collection\"" { total = $7 }
            $1 == "\"[garbage collection]\"" { gc = $6 }
            END { print total, gc; exit !(gc > 0 && gc == total) }' "$SCRATCH/gc.csv"
}
check 'time of the collector is that of its section' collects

modes()
{
    "$LARK" --profile-calls=counts,edges --profile-output="$SCRATCH/modes.cap" \
        "$PROGRAMS/fib.lark" 10 >/dev/null &&
        "$JSPROF_TOOL" calls "$SCRATCH/modes.cap" >"$SCRATCH/modes.txt" &&
        grep -q 'counted: counts, edges$' "$SCRATCH/modes.txt" &&
        ! grep -q -e TOTAL -e BYTES "$SCRATCH/modes.txt"
}
check 'only what was asked for is shown' modes
for list in speed counts, ,time counts,,time ''; do
    check "--profile-calls=$list is refused" says 2 'lark: --profile-calls wants *' \
        "$LARK" --profile-output="$SCRATCH/no.cap" "--profile-calls=$list" x
done
check 'calls without a capture are refused' says 2 'lark: --profile-calls needs *' \
    "$LARK" --profile-calls x
check 'without the option nothing is counted' sh -c \
    "'$LARK' --profile-output='$SCRATCH/no.cap' '$PROGRAMS/fib.lark' 15 >/dev/null &&
     ! '$JSPROF_TOOL' calls '$SCRATCH/no.cap' 2>'$SCRATCH/err' &&
     grep -q 'no exact calls in this capture' '$SCRATCH/err'"
finish
