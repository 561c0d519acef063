#!/bin/sh
# lark/order.sh - `jsprof diff --tasks` finds where a test that fails now and then took another
# way, and finds nothing where it did not; and the order of a chain of promises is that which the
# program logs.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
jsprof=$B/bin/jsprof
cd "$SRCDIR/examples/lark/programs"
bad=0
export LC_ALL=C.UTF-8

# The test shows the page after a second: it comes before, or two seconds later.
run() # NAME SECONDS END: run the test, whose page comes after so many seconds
{
    mkfifo "$tmp/$1.fifo"
    { sleep "$2"; echo page; } >"$tmp/$1.fifo" &
    "$B/bin/lark" --profile-output="$tmp/$1.cap" --profile-tasks flaky.lark "$tmp/$1.fifo" \
        >"$tmp/out"
    wait
    grep -q "$3" "$tmp/out" || { echo "order: the test does not say $3"; exit 1; }
}

run good 0 ok
run again 0.1 ok
run slow 3 FAILED

"$jsprof" diff --tasks "$tmp/good.cap" "$tmp/again.cap" >"$tmp/seen"
grep -qx 'The same order: 4 runs in both.' "$tmp/seen" || { cat "$tmp/seen"; bad=1; }
"$jsprof" diff --tasks "$tmp/good.cap" "$tmp/slow.cap" >"$tmp/seen"
sed -i "s|$tmp/||" "$tmp/seen"
cat >"$tmp/expected" <<'END'
The orders differ at run 3, of 4 before and 4 after.
  before: good.cap
    timeout loaded (flaky.lark:9)
      made in after ← load (flaky.lark:10)
    by timeout load (flaky.lark:10)
      made in after ← start (flaky.lark:17)
    by timeout start (flaky.lark:17)
      made in after ← main (flaky.lark:1)
    what the other one ran there is run 4 here
  after: slow.cap
    timeout show (flaky.lark:12)
      made in after ← start (flaky.lark:17)
    by timeout start (flaky.lark:17)
      made in after ← main (flaky.lark:1)
    what the other one ran there is run 4 here
END
diff "$tmp/expected" "$tmp/seen" || bad=1

# What ends early is a difference, and so is a capture without tasks an error.
"$B/bin/lark" --profile-output="$tmp/1.cap" --profile-tasks pipeline.lark 1 >/dev/null
"$B/bin/lark" --profile-output="$tmp/2.cap" --profile-tasks pipeline.lark 2 >/dev/null
"$jsprof" diff --tasks "$tmp/1.cap" "$tmp/2.cap" >"$tmp/seen"
grep -q 'The orders differ at run 5, of 4 before and 8 after' "$tmp/seen" &&
    grep -q 'before: .* ends here' "$tmp/seen" || { cat "$tmp/seen"; bad=1; }
"$B/bin/lark" --profile-output="$tmp/none.cap" pipeline.lark 1 >/dev/null
"$jsprof" diff --tasks "$tmp/1.cap" "$tmp/none.cap" >"$tmp/seen" 2>&1 && bad=1
grep -q 'no tasks in this capture' "$tmp/seen" || { cat "$tmp/seen"; bad=1; }

# 100 runs of a pipeline of three promises: the chains of the capture are those that the program
# logs.
for n in $(seq 100); do
    "$B/bin/lark" --profile-output="$tmp/p.cap" --profile-tasks pipeline.lark 2 |
        sed -n 's/^made //p' | sort >"$tmp/logged"
    "$jsprof" causes --limit 0 --csv "$tmp/p.cap" promise | tr -d '"' |
        awk -F , 'NR > 1 { line[$1] = line[$1] (line[$1] == "" ? "" : " < ") $4 }
            END { for (i in line) print line[i] }' |
        sed 's/ (pipeline.lark:[0-9]*)//g' | sort >"$tmp/chains"
    [ "$(wc -l <"$tmp/logged")" = 6 ] && diff "$tmp/logged" "$tmp/chains" ||
        { echo "order: run $n: the chains are not those of the log"; bad=1; break; }
done
exit $bad
