#!/bin/sh
# cli/annotate.sh - one function by line and by operation: from a known capture, with and
# without its source, as text, values and graph.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

run annotate listing.cap work
is_rc 0
is_err ''
has 'work (/srv/app/lib/deep/inside/work.js:20:3)'
has 'source not found: /srv/app/lib/deep/inside/work.js (--source DIR adds'
row '100.0% 100.0% 50 ms 22'
cp out whole
for name in 'work (/srv/app/lib/deep/inside/work.js:20:3)' inside/; do
    run annotate listing.cap "$name"
    cmp -s out whole || wrong 'is not what the short name shows'
done
run annotate --thread 200 listing.cap work
row 'self 20 ms (100.0% of all), total 20 ms (100.0%), in 2 samples'
row '50.0% 50.0% 10 ms 16 again'

run annotate --under work --only leaf listing.cap work
is_rc 1
run annotate --time 0..11ms listing.cap work
row 'total 20 ms (100.0%), in 2 samples'

# Under a function only those activations count that are inside it: the outer one of two
# is cut off, and its row with it.
run annotate --under 'leaf, "quoted"' nested.cap work
row 'self 1.00 ms (100.0% of all), total 1.00 ms (100.0%), in 1 sample'
row '100.0% 100.0% 1.00 ms 16 again'
row '12 unless "18"'
grep -q '%.*unless' out && wrong 'counts a row of an activation that was cut off'

# A caller has totals and no self there; it has lines, and no listing.
run annotate listing.cap main
row '25.0% 25.0% 20 ms 21'
has 'The host registered no listing of this function.'
run annotate merged.cap helper
has 'This is native code, and its debug information has no lines.'
run annotate --csv listing.cap main
lines 2
has 'line,"/srv/app/start.js",21,,20000000,20000000,""'

# The source, found by as many of its last parts as there are below DIR.
mkdir -p src/inside
seq -f 'line %g' 19 >src/inside/work.js
printf 'function work()\r\n{\n\tagain();\033[2J\n}\nline 24\n' >>src/inside/work.js
touch -d '2025-01-01' src/inside/work.js
run annotate --source src listing.cap work
has 'source: src/inside/work.js'
hasnt 'changed after'
row '100.0% 100.0% 50 ms 22 again();\x1b[2J'
row '20 function work()'
hasnt 'line 19'
touch src/inside/work.js
run annotate --source src listing.cap work
has '(changed after the recording: lines may differ)'
COLUMNS=50 run annotate --source src listing.cap work
[ "$(awk 'length($0) > 50 && / 22 /' out | wc -l)" -eq 0 ] || wrong 'is wider than asked for'

run annotate --csv --source src listing.cap work
lines 6
has "line,\"/srv/app/lib/deep/inside/work.js\",22,,50000000,50000000,\"$(printf '\t')again();"
has 'row,"/srv/app/lib/deep/inside/work.js",21,12,10000000,10000000,"unless ""18"""'

run annotate --dot listing.cap work
cp out graph.dot
run annotate --dot listing.cap main
is_rc 1
is_err 'jsprof: listing.cap: no listing of this function was registered'

run annotate listing.cap
is_rc 2
is_err 'jsprof annotate: no function named (try: jsprof annotate --help)'
run annotate
is_err 'jsprof annotate: no capture named (try: jsprof annotate --help)'
run annotate --csv --dot listing.cap work
is_rc 2
run annotate listing.cap nobody
is_rc 1
is_err 'jsprof: listing.cap: no function "nobody" was sampled'
run annotate listing.cap app
is_rc 1
grep -q '^jsprof: listing.cap: 3 functions match "app":$' err || wrong 'does not say 3'
grep -q '^  main (/srv/app/start.js:1:1)$' err || wrong 'does not list main'

[ "$bad" = 0 ] || exit 1
command -v dot >/dev/null || { echo 'SKIP: needs graphviz'; exit 77; }
dot -Tplain graph.dot >plain 2>err || wrong 'dot refuses it'
[ -s err ] && wrong 'dot complains'
[ "$(grep -c '^node' plain)" = 3 ] || wrong 'dot sees other blocks'
[ "$(grep -c '^edge' plain)" = 3 ] || wrong 'dot sees other edges'
exit $bad
