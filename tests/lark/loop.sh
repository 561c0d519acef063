#!/bin/sh
# lark/loop.sh - `jsprof loop` has every run of a program's timers and promises, and `jsprof
# causes` names who made them, as the program does.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$SRCDIR/examples/lark/programs"
bad=0
export LC_ALL=C.UTF-8
rounds=20

"$B/bin/lark" --profile-output="$tmp/loop.cap" --profile-tasks loop.lark $rounds >"$tmp/out"
[ "$(tr ' ' '\n' <"$tmp/out" | grep -c '^[0-9][0-9]*$')" = $rounds ] ||
    { echo 'loop: the program printed:'; cat "$tmp/out"; exit 1; }

is() # WHAT SEEN EXPECTED
{
    [ "$2" = "$3" ] || { echo "loop: $1: $2, not $3"; bad=1; }
}

# Each kind and name, with how many tasks were made and how often they ran.
"$B/bin/jsprof" loop --csv "$tmp/loop.cap" | tr -d '"' | cut -d , -f 1-4 | sed 1d |
    grep -v '^interval,' | sort >"$tmp/seen"
cat >"$tmp/expected" <<END
promise,parse (loop.lark:11),$rounds,$rounds
promise,render (loop.lark:12),$rounds,$rounds
promise,show (loop.lark:13),$rounds,$rounds
timeout,finish (loop.lark:29),1,1
timeout,tick (loop.lark:22),$rounds,$rounds
END
diff "$tmp/expected" "$tmp/seen" || bad=1

# The sum of the runs is in the rows of each grouping, and the one of single tasks has them all.
for by in kind task thread; do
    "$B/bin/jsprof" loop --by $by --json "$tmp/loop.cap" >"$tmp/$by.json"
    is "runs by $by" "$(grep -o '"runs":[0-9]*' "$tmp/$by.json" | cut -d : -f 2 |
        awk '{ n += $1 } END { print n }')" \
        "$("$B/bin/jsprof" loop --csv "$tmp/loop.cap" | sed 1d | awk -F , '{ n += $(NF - 12) }
            END { print n }')"
done

# show was made by tick, as were the others, and could run when render had.
"$B/bin/jsprof" causes --limit 0 "$tmp/loop.cap" 'promise show' >"$tmp/causes"
is 'tasks of the chains' "$(awk '/^[0-9]+ tasks?,/ { n += $1 } END { print n }' "$tmp/causes")" \
    $rounds
is 'made ready by' "$(sed -n 's/^ *made ready by //p' "$tmp/causes" | sort -u)" \
    'promise render (loop.lark:12)'
is 'made by' "$(grep -A 3 '^  promise show' "$tmp/causes" | sed -n 's/^  by \(.*:22)\).*/\1/p' |
    sort -u)" 'timeout tick (loop.lark:22)'
is 'root' "$(grep -B 2 '^  by no task' "$tmp/causes" | sed -n 's/^ *made in //p' | sort -u)" \
    'after ← main (loop.lark:1)'

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
"$B/bin/jsprof" loop --csv "$tmp/t.cap" | tr -d '"' | sed 's/([^)]*)//' |
    awk -F , 'NR > 1 { print $1, $4, $11, ($14 < ($1 == "interval" ? 300e6 : 1000e6)) }' |
    sort >"$tmp/timers"
diff "$tmp/expected" "$tmp/timers" || bad=1
exit $bad
