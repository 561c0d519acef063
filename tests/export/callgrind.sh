#!/bin/sh
# export/callgrind.sh - Callgrind's own reader shows the calls and the inclusive costs that
# jsprof does: of exact calls, of sampled stacks, and under recursion.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

command -v callgrind_annotate >/dev/null || { echo 'SKIP: needs valgrind'; exit 77; }
export HOME="$tmp"

# "NAME COST" of each function, and "CALLER > CALLEE CALLS" of each call.
annotated() # FILE [OPTION]
{
    callgrind_annotate --tree=both --auto=no --threshold=100 --show-percs=no \
        "${2:---inclusive=yes}" "$1" >annotated 2>annotate.err
    ran="callgrind_annotate $1"
    [ -s annotate.err ] && { cp annotate.err err; wrong 'complains'; }
    awk '
        { cost = $1; mark = $2; gsub(/,/, "", cost) }
        mark != "*" && mark != "<" && mark != ">" { next }
        { text = substr($0, index($0, mark) + 1)
          sub(/^ +/, "", text); sub(/ \[[^]]*\]$/, "", text) }
        mark == "*" { name = text; print text, cost; next }
        { n = text; sub(/.*\(/, "", n); sub(/x\)$/, "", n); gsub(/,/, "", n)
          sub(/ \([0-9,]*x\)$/, "", text) }
        mark == ">" { print name, ">", text, n }' annotated | sort >figures
}
shows() # LINE
{
    grep -qxF -- "$1" figures || { cp figures out; wrong "does not show: $1"; }
}

run convert --to callgrind -o exact.callgrind calls.cap
is_rc 0
is_err ''
annotated exact.callgrind
shows '/srv/a.js:main 200000000'
shows '/srv/a.js:fib\x1b[31m, "x" 190000000'
shows '???:collector 10000000'
shows '???:[outside] > /srv/a.js:main 1'
shows '/srv/a.js:main > /srv/a.js:fib\x1b[31m, "x" 1'
shows '/srv/a.js:fib\x1b[31m, "x" > /srv/a.js:fib\x1b[31m, "x" 999'
shows '/srv/a.js:fib\x1b[31m, "x" > ???:collector 2'
annotated exact.callgrind --inclusive=no
shows '/srv/a.js:main 10000000'
shows '/srv/a.js:fib\x1b[31m, "x" 180000000'

# In a circle the costs of calls are scaled, so that those of functions are true.
run convert --to callgrind -o circle.callgrind circle.cap
annotated circle.callgrind
shows 'c.js:main 260'
shows 'c.js:fn 160'
shows "c.js:fn'2 120"
shows "c.js:fn > c.js:fn'2 2"
shows "c.js:fn'2 > c.js:fn 1"
shows "c.js:fn'2 > c.js:fn'2 1"
annotated circle.callgrind --inclusive=no
shows "c.js:fn'2 80"

# Sampled stacks: totals are the report's, and only they can be filtered.
run convert --to callgrind -o sampled.callgrind good.cap
is_rc 0
annotated sampled.callgrind
shows '/srv/app/start.js:main 80000000'
shows '/srv/app/lib/deep/inside/work.js:work 50000000'
shows '/srv/app/start.js:main > /srv/app/lib/deep/inside/work.js:work 5'
shows '???:[thread main 100] > /srv/app/start.js:main 6'
run convert --to callgrind -o sampled.callgrind foreign.cap
annotated sampled.callgrind
shows '???:[libfoo.so.1] 2'
shows '???:[libfoo.so.1] > ???:[kernel] 1'
run convert --to callgrind --thread 200 -o thread.callgrind good.cap
annotated thread.callgrind
shows '???:[thread helper two 200] 20000000'
shows '/srv/app/lib/deep/inside/work.js:work 20000000'
run convert --to callgrind --thread 100 calls.cap
is_rc 1
run convert --to callgrind empty.cap
is_rc 1
is_err 'jsprof: empty.cap: no samples in this capture'

# A real interpreter: exact and sampled, all functions. The eighth has 180 samples; where the
# program is 5 times as fast, 36.
lark=$B/bin/lark
[ -x "$lark" ] || { echo 'lark was not built'; exit 1; }
"$lark" --profile-calls --profile-hz=10000 --profile-output=sort.cap --profile-clock=wall \
    "$SRCDIR/examples/lark/programs/quicksort.lark" 100000 >/dev/null
run convert -o sort.callgrind sort.cap
is_rc 0
annotated sort.callgrind
"$jsprof" calls --csv sort.cap | awk -F, -v q='"' '
    NR > 1 && $5 > 0 { gsub(q, ""); print ($2 == "" ? "???" : $2) ":" $1, $7 }' | sort >expected
grep -v -e ' > ' -e '\[outside\]' figures >got
if ! diff expected got >out; then ran='inclusive costs of sort.cap'; wrong 'differ'; fi
[ "$(wc -l <expected)" -ge 10 ] || wrong 'too few functions'
"$jsprof" calls --edges --csv sort.cap | awk -F, -v q='"' '
    NR > 1 { gsub(q, ""); for (i = 1; i < 3; i++) {
                 file = "???"
                 if ($i ~ / \(.*:[0-9]+\)$/) {
                     file = $i; sub(/.* \(/, "", file); sub(/:[0-9]+\)$/, "", file)
                     sub(/ \(.*/, "", $i) }
                 $i = file ":" $i }
             print $1, ">", $2, $3 }' | sort >expected
grep ' > ' figures >got
if ! diff expected got >out; then ran='calls of sort.cap'; wrong 'differ'; fi

run convert --vm -o vm.callgrind sort.cap
annotated vm.callgrind
"$jsprof" report --vm --csv --limit 0 sort.cap >report.csv
awk -F, -v q='"' 'NR > 1 { gsub(q, ""); file = "???"
        if ($1 ~ / \(.*:[0-9]+\)$/) {
            file = $1; sub(/.* \(/, "", file); sub(/:[0-9]+\)$/, "", file)
            sub(/ \(.*/, "", $1) }
        print file ":" $1, $4 }' report.csv | sort >expected
grep -v -e ' > ' -e '\[thread ' figures >got
if ! diff expected got >out; then ran='totals of sort.cap, sampled'; wrong 'differ'; fi
[ "$(wc -l <expected)" -ge 8 ] || wrong 'too few functions'

# Nor is a call seen in more samples than what it calls.
awk -F, -v q='"' 'NR == FNR { gsub(q, ""); sub(/ \(.*/, "", $1); most[$1] = $6; next }
    / > / { to = $0; sub(/.* > /, "", to); n = to; sub(/.* /, "", n); sub(/ [0-9]*$/, "", to)
            sub(/.*:/, "", to); seen++; if (n + 0 > most[to] + 0) print to, n, most[to] }
    END { if (seen < 8) print seen " calls" }' report.csv figures >out
ran='calls of sort.cap, sampled'
[ ! -s out ] || wrong 'are more than the samples'

# KCachegrind shows them in a window; it has no mode without one, so that is a long test.
[ "$bad" = 0 ] || exit 1
[ -n "${LONG:-}" ] || exit 0
for tool in kcachegrind xvfb-run dbus-run-session import; do
    command -v $tool >/dev/null || { echo "SKIP: needs $tool"; exit 77; }
done
cat >window.sh <<'END'
kcachegrind "$1" 2>kcachegrind.err &
pid=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    sleep 1
    import -window root shot.png 2>/dev/null
    colours=$(identify -format %k shot.png 2>/dev/null)
    [ "${colours:-0}" -gt 200 ] && break
done
kill -0 $pid && echo alive >alive
kill $pid
END
xvfb-run -a -s '-screen 0 1280x800x24' dbus-run-session -- sh window.sh "$tmp/sort.callgrind" \
    >/dev/null 2>&1 || true
ran='kcachegrind sort.callgrind'
[ -f alive ] || { cp kcachegrind.err err; wrong 'did not stay open'; }
[ "$(identify -format %k shot.png)" -gt 200 ] || wrong 'drew nothing'
[ -z "${KEEP:-}" ] || cp shot.png "$KEEP"
exit $bad
