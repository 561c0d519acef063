#!/bin/sh
# lark/stalls.sh - `jsprof stalls` finds each turn in which a program held its loop up, with the
# function, the system call or the collection that did, and invents none.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
jsprof=$B/bin/jsprof
cd "$SRCDIR/examples/lark/programs"
bad=0
export LC_ALL=C.UTF-8

wrong()
{
    echo "stalls: $*"
    cat "$tmp/out" "$tmp/rows"
    bad=1
}

# The pipe is written when the program has been asleep in its read for half a second.
mkfifo "$tmp/fifo"
{ sleep 0.5; echo done; } >"$tmp/fifo" &
JSPROF=$tmp/s.cap JSPROF_CLOCK=wall JSPROF_SOURCE=looker \
    "$B/bin/lark" --profile-tasks stalls.lark "$tmp/fifo" 200000 >"$tmp/out"
wait
"$jsprof" stalls --vm --each --over 16ms --csv "$tmp/s.cap" | tr -d '"' >"$tmp/all"

# By time: cause, function, call, and the ms in functions, collections, asleep. Quick turns that
# waited for a processor are true stalls of a busy machine.
sed 1d "$tmp/all" | sort -n | awk -F , '$3 != "processor" || $7 ~ /^step/ {
    print $3 "," $4 "," $5 "," $10 / 1e6 "," $11 / 1e6 "," $12 / 1e6 }' >"$tmp/rows"
[ "$(wc -l <"$tmp/rows")" = 6 ] || wrong 'not six stalls'

# The program's clock counts CPU time, and so do samples of functions: it has a third to spare.
for n in 1 2 3; do
    ms=$(sed -n "${n}p" "$tmp/out" | cut -d ' ' -f 3)
    sed -n "${n}p" "$tmp/rows" | awk -F , -v ms="$ms" '{
        exit !($1 ~ /function|processor/ && $2 ~ /^(burn|busy) / && $4 > ms / 1.5 - 2 &&
               $4 < ms * 1.5 + 5) }' || wrong "busy $ms ms"
done
sed -n 4p "$tmp/rows" | awk -F , '{
    exit !($1 == "blocking" && $2 == "wait (stalls.lark:19)" && $3 == "read (pipe)" &&
           $6 > 100) }' ||
    wrong 'no blocking read'
sed -n 6p "$tmp/rows" | awk -F , '{ exit !($2 ~ /^collect / && $5 > $4) }' ||
    wrong 'no collection'

# Groups have the sum of their stalls, the worst first. Without a stall there is no row.
sum() { awk -F , -v n="$1" 'NR > 1 { sum += $n } END { print sum + 0 }' "$2"; }
"$jsprof" stalls --vm --over 16ms --csv "$tmp/s.cap" | tr -d '"' >"$tmp/groups"
[ "$(sum 1 "$tmp/groups") $(sum 3 "$tmp/groups")" = \
    "$(($(wc -l <"$tmp/all") - 1)) $(sum 2 "$tmp/all")" ] || wrong 'groups'
cut -d , -f 2 "$tmp/groups" | sed 1d | sort -rnc || wrong 'order'
"$jsprof" stalls --over 10m "$tmp/s.cap" >"$tmp/rows"
grep -q '^No stall: none of [0-9]* turns took 600 s or longer' "$tmp/rows" || wrong 'no stall'
"$jsprof" stalls --over 10m --json "$tmp/s.cap" | grep -q '"rows":\[$' || wrong 'no row'

# A CPU-time recording sees no thread wait, and says so.
echo done >"$tmp/fifo" &
"$B/bin/lark" --profile-output="$tmp/cpu.cap" --profile-tasks stalls.lark "$tmp/fifo" 10 >"$tmp/out"
wait
"$jsprof" stalls "$tmp/cpu.cap" >"$tmp/rows"
grep -q 'without the states of threads' "$tmp/rows" || wrong 'the CPU-time recording'
# A capture of long turns alone says which limit it had, which is the default here.
"$B/bin/lark" --profile-output="$tmp/long.cap" --profile-stalls=600s loop.lark 3 >"$tmp/out"
"$jsprof" stalls "$tmp/long.cap" >"$tmp/rows"
grep -q '^No stall: no turns' "$tmp/rows" &&
    grep -q 'only turns that took longer than 600 s' "$tmp/rows" || wrong 'stall mode'
echo done >"$tmp/fifo" &
"$B/bin/lark" --profile-output="$tmp/none.cap" stalls.lark "$tmp/fifo" 10 >"$tmp/out"
wait
"$jsprof" stalls "$tmp/none.cap" >"$tmp/rows" 2>&1 && wrong 'stalls without tasks'
grep -q 'no tasks in this capture' "$tmp/rows" || wrong 'without tasks'
exit $bad
