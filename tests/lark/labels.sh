#!/bin/sh
# lark/labels.sh - a timer carries the labels under which it was made, in a capture of either form,
# in one that was converted or merged, and in pprof.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
jsprof=$B/bin/jsprof
cd "$SRCDIR/examples/lark/programs"
export LC_ALL=C.UTF-8
bad=0
say() { echo "labels: $*"; bad=1; }

# The share of one route in a capture, in percent of what has any.
shares() # CAPTURE
{
    "$jsprof" report --csv --by label:route "$1" | tr -d '"' >"$tmp/by"
    awk -F , '$1 ~ /^\// { of[$1] = $2; all += $2 }
        END { printf "%d %d\n", 100 * of["/long"] / all, 100 * of["/short"] / all }' "$tmp/by"
}

# 3.3 of 4.6 million rounds are of /long: 71.7 %.
fits() # CAPTURE WHAT
{
    got=$(shares "$1")
    long=${got% *}
    [ "$long" -ge 55 ] && [ "$long" -le 85 ] || { say "$2: $got"; cat "$tmp/by"; }
}

for compact in 0 1; do
    JSPROF_COMPACT=$compact "$B/bin/lark" --profile-output="$tmp/$compact.cap" \
        --profile-tasks labels.lark
    fits "$tmp/$compact.cap" "compact $compact"
done
"$jsprof" convert --to compact -o "$tmp/c.cap" "$tmp/0.cap"
"$jsprof" convert --to syscap -o "$tmp/p.cap" "$tmp/1.cap"
"$jsprof" merge -o "$tmp/m.cap" "$tmp/0.cap" "$tmp/1.cap" 2>/dev/null
for one in c p m; do
    fits "$tmp/$one.cap" "$one.cap"
done

# Only one route, and none besides it.
"$jsprof" report --csv --by label:route --label route=/long "$tmp/m.cap" >"$tmp/long"
[ "$(wc -l <"$tmp/long")" -eq 2 ] && grep -q /long "$tmp/long" ||
    { say '--label has more'; cat "$tmp/long"; }
"$jsprof" report --label route=/none "$tmp/m.cap" >"$tmp/none" 2>&1 &&
    say 'a route that is not there'
"$jsprof" report --by label "$tmp/m.cap" >/dev/null
"$jsprof" convert --to pprof -o "$tmp/a.pb.gz" "$tmp/0.cap"
gzip -dc "$tmp/a.pb.gz" | grep -q /short || say 'pprof has no label'
# As spans of the thread in formats with a time axis.
"$jsprof" convert --to firefox -o "$tmp/a.json" "$tmp/0.cap"
"$jsprof" convert --to perfetto -o "$tmp/a.pftrace" "$tmp/0.cap"
for route in /long /short; do
    grep -qF "\"type\":\"jsprof-labels\",\"labels\":\"route=$route\"" "$tmp/a.json" ||
        say "firefox has no $route"
    grep -qaF "route=$route" "$tmp/a.pftrace" || say "perfetto has no $route"
done
exit $bad
