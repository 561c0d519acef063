#!/bin/sh
# lark/labels.sh - a timer carries the labels under which it was made, in a capture of either form,
# in one that was converted or merged, and in pprof; and allocations have those of their moment.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
jsprof=$B/bin/jsprof
. "$SRCDIR/tests/lib-chance.sh"
cd "$SRCDIR/examples/lark/programs"
export LC_ALL=C.UTF-8
bad=0
say() { echo "labels: $*"; bad=1; }

# The share of /long in a capture, in percent of what has a route; and how many samples of equal
# weight there are.
shares() # CAPTURE
{
    "$jsprof" report --csv --by label:route "$1" | tr -d '"' >"$tmp/by"
    awk -F , '$1 ~ /^\// { of[$1] = $2; all += $2 }
        END { printf "%.2f ", all ? 100 * of["/long"] / all : 0 }' "$tmp/by"
    "$jsprof" dump "$1" | awk '/ SAMPLE / && match($0, /weight [0-9]+/) {
            w = substr($0, RSTART + 7, RLENGTH - 7); sum += w; squares += w * w }
        END { printf "%.0f\n", squares ? sum * sum / squares : 0 }'
}

# 33 of 46 million rounds are of /long: 71.7 %.
sed 's/[0-9]00000/&0/' labels.lark >"$tmp/labels.lark"
fits() # CAPTURE WHAT
{
    got=$(shares "$1")
    near "${got% *}" 71.7 "${got#* }" 2 >"$tmp/near" || { say "$2"; cat "$tmp/near" "$tmp/by"; }
}

for compact in 0 1; do
    JSPROF_COMPACT=$compact "$B/bin/lark" --profile-output="$tmp/$compact.cap" \
        --profile-tasks "$tmp/labels.lark"
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

# What has no room, or is cut, is in the account: 22 keys of a value of 40 bytes do not have it.
cat >"$tmp/many.lark" <<'END'
fn burn(n) { let sum = 0; for i = 0, n { sum += i * i % 7; } return sum; }
let value = "0123456789012345678901234567890123456789";
for i = 0, 30 { label("key" + str(i), value); }
label("long", value + value + value + value + value + value + value);
burn(300000);
END
"$B/bin/lark" --profile-output="$tmp/many.cap" "$tmp/many.lark"
"$jsprof" info "$tmp/many.cap" >"$tmp/info"
grep -qE '^  labels .*[0-9]+ not set, no room.*1 cut' "$tmp/info" ||
    { say 'info does not say what had no room'; cat "$tmp/info"; }

# The same of samples of allocations: all of 60 arrays of /long and 30 of /short.
cat >"$tmp/arrays.lark" <<'END'
fn make(n) { for i = 0, n { [i, i, i, i]; } }
label("route", "/long");
make(60);
label("route", "/short");
make(30);
END
for compact in 0 1; do
    JSPROF_COMPACT=$compact "$B/bin/lark" --profile-output="$tmp/m$compact.cap" \
        --profile-alloc=2 "$tmp/arrays.lark"
done
"$jsprof" convert --to compact -o "$tmp/mc.cap" "$tmp/m0.cap"
"$jsprof" merge -o "$tmp/mm.cap" "$tmp/0.cap" "$tmp/m0.cap" "$tmp/m1.cap" 2>/dev/null
for one in m0 m1 mc mm; do
    "$jsprof" report --csv --measure alloc --by label:route "$tmp/$one.cap" | tr -d '"' \
        >"$tmp/by"
    awk -F , '{ of[$1] = $2 }
        END { short = 2 * of["/short"]; exit !(short > 0 && of["/long"] > 0.9 * short &&
            of["/long"] < 1.1 * short) }' "$tmp/by" ||
        { say "allocations of $one.cap"; cat "$tmp/by"; }
done
# As spans of the thread in formats with a time axis.
"$jsprof" convert --to firefox -o "$tmp/a.json" "$tmp/0.cap"
"$jsprof" convert --to perfetto -o "$tmp/a.pftrace" "$tmp/0.cap"
for route in /long /short; do
    grep -qF "\"type\":\"jsprof-labels\",\"labels\":\"route=$route\"" "$tmp/a.json" ||
        say "firefox has no $route"
    grep -qaF "route=$route" "$tmp/a.pftrace" || say "perfetto has no $route"
done
exit $bad
