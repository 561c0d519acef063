#!/bin/sh
# lark/async.sh - `jsprof loop` has every run of a program's timers and promises, `jsprof causes`
# names who made them, and samples know the task that ran: `report --by task`, `--under-task` and
# `tree --async` put the time of each where the program spent it.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
jsprof=$B/bin/jsprof
cd "$SRCDIR/examples/lark/programs"
bad=0
export LC_ALL=C.UTF-8

"$B/bin/lark" --profile-output="$tmp/a.cap" --profile-tasks --profile-clock=wall \
    --profile-hz=5000 loop.lark 200 >/dev/null

is() # WHAT SEEN EXPECTED
{
    [ "$2" = "$3" ] || { echo "async: $1: $2, not $3"; bad=1; }
}

# GROUP's figure in column N of report --by task, or the sum of the column.
of()
{
    awk -F , -v n="$1" -v of="$2" '!of || $1 == of { sum += $n } END { print sum + 0 }' \
        "$tmp/by"
}

"$jsprof" report --idle --csv --by task "$tmp/a.cap" | tr -d '"' >"$tmp/by"
render='promise render (loop.lark:12)'
# 720 where 60 rounds have 216: 140 on a machine five times as fast, and chance makes 90 of them.
[ "$(of 4 "$render")" -ge 20 ] ||
    { echo 'async: render has too few samples'; cat "$tmp/by"; bad=1; }
all=$("$jsprof" report --idle --csv --by kind "$tmp/a.cap" |
    awk -F , 'NR > 1 { sum += $2 } END { print sum }')
is 'sum of all tasks' "$(of 2 '')" "$all"

# Each kind and name, with how many tasks were made and how often they ran.
"$jsprof" loop --csv "$tmp/a.cap" | tr -d '"' | cut -d , -f 1-4 | sed 1d |
    grep -v '^interval,' | sort >"$tmp/seen"
cat >"$tmp/expected" <<END
promise,parse (loop.lark:11),200,200
promise,render (loop.lark:12),200,200
promise,show (loop.lark:13),200,200
timeout,finish (loop.lark:29),1,1
timeout,tick (loop.lark:22),200,200
END
diff "$tmp/expected" "$tmp/seen" || bad=1

# show was made by tick, as were the others, and could run when render had.
"$jsprof" causes --limit 0 "$tmp/a.cap" 'promise show' >"$tmp/causes"
is 'made ready by' "$(sed -n 's/^ *made ready by //p' "$tmp/causes" | sort -u)" \
    'promise render (loop.lark:12)'
is 'made by' "$(grep -A 3 '^  promise show' "$tmp/causes" | sed -n 's/^  by \(.*:22)\).*/\1/p' |
    sort -u)" 'timeout tick (loop.lark:22)'

# A timer's delay counts from the moment for which it was set, also of each repetition: it is less
# than the time for which it was asked, or the machine was away for so long.
cat >"$tmp/timers.lark" <<'END'
let left = 4;
let number = 0;
fn again(unused) { left -= 1; if left == 0 { cancel(number); } return nil; }
fn once(unused) { return nil; }
number = every(300, again, nil);
after(1000, once, nil);
END
printf 'interval 4 4 1\ntimeout 1 1 1\n' >"$tmp/expected"
"$B/bin/lark" --profile-output="$tmp/t.cap" --profile-tasks "$tmp/timers.lark"
"$jsprof" loop --csv "$tmp/t.cap" | tr -d '"' | sed 's/([^)]*)//' |
    awk -F , 'NR > 1 { print $1, $4, $11, ($14 < ($1 == "interval" ? 300e6 : 1000e6)) }' |
    sort >"$tmp/timers"
diff "$tmp/expected" "$tmp/timers" || bad=1

# A part of the name chooses the samples of these tasks; tick made all promises, and beat none.
sum() # OPTION...: self time
{
    "$jsprof" report --idle --csv --by task "$@" "$tmp/a.cap" |
        awk -F , 'NR > 1 { sum += $2 } END { print sum + 0 }'
}
is 'under render' "$(sum --under-task 'promise render')" "$(of 2 "$render")"
is 'under tick' "$(sum --under-task tick)" "$(awk -F , '/^promise|^timeout/ { sum += $2 }
    END { print sum }' "$tmp/by")"
# A chain that begins anew with each timer is folded, and yet the first timer caused it all.
"$jsprof" loop --by task --csv "$tmp/a.cap" | tr -d '"' >"$tmp/tasks"
first=$(awk -F , '$2 ~ /^tick/ { print $3 }' "$tmp/tasks" | sort -n | head -n 1)
is 'under the first tick' "$(sum --under-task "#$first")" "$(sum --under-task tick)"

# The stack of render: the promise was made in start, by tick, which tick had made, and main.
"$jsprof" tree --async --vm --min 0 --csv --under-task 'promise render' "$tmp/a.cap" |
    tr -d '"' | awk -F , 'NR > 1 { up[$1] = $2; name[$1] = $4 }
        $4 == "burn (loop.lark:5)" && !found {
            found = 1
            for (at = $1; at; at = up[at]) print name[at]
        }' >"$tmp/stack"
cat >"$tmp/expected" <<'END'
burn (loop.lark:5)
render (loop.lark:12)
[promise render (loop.lark:12)]
then
start (loop.lark:15)
[timeout tick (loop.lark:22)]
after
tick (loop.lark:22)
[timeout tick (loop.lark:22)]
after
main (loop.lark:1)
END
diff "$tmp/expected" "$tmp/stack" || bad=1
is 'time of both trees' "$("$jsprof" tree --async --idle --min 0 --csv "$tmp/a.cap" |
    awk -F , 'NR > 1 { sum += $9 } END { print sum }')" "$all"

# The tasks in which a function was sampled.
"$jsprof" causes --limit 0 --csv "$tmp/a.cap" 'burn' | tr -d '"' |
    awk -F , '$2 == "0" { print $4 }' | sort -u >"$tmp/burn"
is 'tasks of burn' "$(grep -c -e '^render (' -e '^parse (' -e '^beat (' "$tmp/burn")" \
    "$(wc -l <"$tmp/burn")"
grep -q '^render (' "$tmp/burn" || { echo 'async: causes of burn lacks render'; bad=1; }

# Allocations have the task that ran at their time: tick makes the promises.
"$B/bin/lark" --profile-output="$tmp/alloc.cap" --profile-tasks --profile-alloc=4096 \
    loop.lark 60 >/dev/null
"$jsprof" report --measure alloc --csv --by task "$tmp/alloc.cap" | tr -d '"' >"$tmp/by"
[ "$(of 4 'timeout tick (loop.lark:22)')" -ge 5 ] ||
    { echo 'async: tick allocates too little'; cat "$tmp/by"; bad=1; }

fails() # MESSAGE COMMAND...
{
    says=$1
    shift
    "$jsprof" "$@" >"$tmp/out" 2>"$tmp/err" && { echo "async: $* succeeded"; bad=1; }
    grep -q "$says" "$tmp/err" && [ "$(wc -l <"$tmp/err")" = 1 ] && [ ! -s "$tmp/out" ] ||
        { echo "async: $* says:"; cat "$tmp/out" "$tmp/err"; bad=1; }
}
"$B/bin/lark" --profile-output="$tmp/none.cap" --profile-clock=wall loop.lark 60 >/dev/null
fails 'no task "tock"' report --under-task tock "$tmp/a.cap"
fails 'no task and no function or mark in a task "tock"' causes "$tmp/a.cap" tock
fails 'no tasks in this capture' report --under-task tick "$tmp/none.cap"
fails 'no tasks in this capture' report --by task "$tmp/none.cap"
fails 'no tasks in this capture' tree --async "$tmp/none.cap"
exit $bad
