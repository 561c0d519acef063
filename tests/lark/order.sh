#!/bin/sh
# lark/order.sh - `jsprof diff --tasks` finds where a test that fails now and then took another
# way, and finds nothing where it did not.
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
grep -q '^The orders differ at run 3, of 4 before and 4 after' "$tmp/seen" &&
    [ "$(grep -x -A 1 '  [ab].*:.*cap' "$tmp/seen" | grep -o '    timeout [a-z]*' | xargs)" = \
        'timeout loaded timeout show' ] || { cat "$tmp/seen"; bad=1; }

# What ends early is a difference.
"$B/bin/lark" --profile-output="$tmp/1.cap" --profile-tasks pipeline.lark 1 >/dev/null
"$B/bin/lark" --profile-output="$tmp/2.cap" --profile-tasks pipeline.lark 2 >/dev/null
"$jsprof" diff --tasks "$tmp/1.cap" "$tmp/2.cap" >"$tmp/seen"
grep -q 'The orders differ at run 5, of 4 before and 8 after' "$tmp/seen" &&
    grep -q 'before: .* ends here' "$tmp/seen" || { cat "$tmp/seen"; bad=1; }
exit $bad
