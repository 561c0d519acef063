#!/bin/sh
# cli/calls.sh - exact calls of a known capture: every column, order and form, and the
# difference of two.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

first() # NAME: of the first row
{
    awk '/ CALLS /{ getline; print; exit }' out | grep -q -- "$1" || wrong "first is not $1"
}
for key in self:fib total:main calls:fib each:main bytes:fib name:collector; do
    run calls --sort "${key%:*}" calls.cap
    first "${key#*:}"
done
run calls --limit 1 calls.cap
row '2 more functions (--limit 0 shows them)'
run calls --limit 2 calls.cap
row '1 more function (--limit 0 shows it)'
hasnt collector

run calls --edges --sort calls calls.cap
first 'fib.* → fib'
for columns in 40 60 80 100 120; do
    COLUMNS=$columns LC_ALL=C run calls calls.cap
    [ "$(awk "length(\$0) > $columns && NR > 4 && !/: [0-9]/" out | wc -l)" = 0 ] ||
        wrong "is wider than $columns"
done

run calls --csv calls.cap
lines 6
esc=$(printf '\033')
has "\"fib$esc[31m, \"\"x\"\"\",\"/srv/a.js\",5,vm,1000,180000000,190000000,190000,4900,4900"
has '"main","/srv/a.js",1,vm,1,10000000,200000000,200000000,100,5000'
has '"[own cost of counting]","",0,synth,0,15000000,0,0,0,0'
run calls --csv --edges calls.cap
lines 6
has '"[outside]","main (/srv/a.js:1)",1,200000000,200000000'

run calls --json calls.cap
lines 1
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
c = json.load(open(sys.argv[1]))
assert sum(f["self_ns"] for f in c["functions"]) == c["inside_ns"]
assert sum(e["calls"] for e in c["edges"] if e["caller_id"] != 0) == c["calls"]' out ||
        wrong 'does not add up'
fi

# What is shown: by name, by file, by share; the sums stay.
run calls --only '^fib|^coll' calls.cap
is_rc 0
row '1,003 calls in 200 ms · 4.88 KiB allocated'
row '1,000 180 ms 90.0% 190 ms'
row '2 10.0 ms 5.0% 10.0 ms 5.00 ms gc collector'
hasnt 'main'
run calls --file 'srv/a\.js$' --csv calls.cap
lines 5
hasnt collector
run calls --min 50 calls.cap
row '1 10.0 ms 5.0% 200 ms'
hasnt collector
run calls --min 5.1 calls.cap
hasnt collector
run calls --min 5 calls.cap
has collector
run calls --edges --only main --csv calls.cap
has '"[outside]","main (/srv/a.js:1)",1,'
hasnt '"fib.*","fib'
run calls --edges --min 99 --csv calls.cap
lines 2
run calls --only sort calls.cap calls2.cap
row '5 +5 90.0 ms'
hasnt fib
# Of two captures a share in either is enough, and nothing else of the other is forgotten.
run calls --min 50 calls.cap calls3.cap
row '500 -500 10.0 ms -170 ms 20.0 us x0.11 fib\x1b[31m, "x" (/srv/a.js:5)'
hasnt collector
run calls --min 50 --csv calls3.cap calls.cap
has ',"/srv/a.js",5,vm,500,1000,10000000,180000000,10000000,190000000,'
lines 3
run calls --only 'a(' calls.cap
is_rc 2
grep -q '^jsprof calls: --only: ' err || wrong 'does not say what is wrong with the pattern'
run calls --min 101 calls.cap
is_rc 2
is_err 'jsprof calls: --min wants a percentage from 0 to 100, not "101" (try: jsprof calls --help)'
run calls --min x calls.cap
is_rc 2
run calls --thread main calls.cap # tables are of all threads
is_rc 2

# Modes: what was never counted has no column; a field that is missing is 0.
run calls calls2.cap
row '2,000 300 ms 75.0% 380 ms 190 us vm fib'
hasnt BYTES
has 'Counted: from 0 ns counts, time, from 250 ms nothing'
hasnt 'Leaves'

# Two captures: lines moved, a function came, one went.
run calls calls.cap calls2.cap
is_rc 0
row 'A calls.cap: 1,003 calls in 200 ms'
row '2,000 +1,000 300 ms +120 ms 190 us x1.00 fib\x1b[31m, "x" (/srv/a.js:9)'
row '5 +5 90.0 ms +90.0 ms 18.0 ms new sort'
row '0 -2 0 ns -10.0 ms gone collector'
row '1 = 10.0 ms = 400 ms x2.00 main'
has 'The two captures counted different things'
awk '/CALLS IN B/{ getline; print; exit }' out | grep -q fib || wrong 'first is not fib'
run calls --sort each calls.cap calls2.cap
awk '/CALLS IN B/{ getline; print; exit }' out | grep -q main || wrong 'first is not main'
run calls --csv calls.cap calls2.cap
lines 5
has '"collector","",0,gc,2,0,10000000,0,10000000,0,0,0'
run calls --json calls.cap calls2.cap
has '"function":"sort","file":"","line":0,"kind":"label","a":{"calls":0'

# Cut anywhere: the figures of some commit, or none.
size=$(wc -c <calls.cap)
for part in 10 40 70 90 95; do
    head -c $((size * part / 100)) calls.cap >cut.cap
    run calls cut.cap
    [ "$rc" = 1 ] && continue
    is_rc 0
    hasnt '99,999'
done

run calls
is_rc 2
is_err 'jsprof calls: no capture and no process named (try: jsprof calls --help)'
run calls a b c
is_rc 2
is_err 'jsprof calls: two captures at most (try: jsprof calls --help)'
run calls --sort speed calls.cap
is_rc 2
run calls --csv --json calls.cap
is_rc 2
run calls --edges calls.cap calls2.cap
is_rc 2
is_err 'jsprof calls: --edges is for one capture (try: jsprof calls --help)'
run calls calls.cap absent
is_rc 1
is_err 'jsprof: absent: No such file or directory'
exit $bad
