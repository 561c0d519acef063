#!/bin/sh
# export/hostile.sh - names that try to break out of a format, or to act on a terminal, do
# neither; and a profile of many blocks is whole.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"
controls="$(printf '[\001-\010\013-\037\177]')"

for format in folded csv perf json firefox speedscope chrome callgrind; do
    convert $format hostile hostile.$format
    cp hostile.$format out
    ran=$format
    ! grep -q "$controls" out || wrong 'lets a control character through'
    iconv -f UTF-8 -t UTF-8 <hostile.$format >out 2>err || wrong 'is not UTF-8'
    # Direction overrides, C1 controls, line separators: as they are, they act.
    for bad_text in '\342\200\256' '\302\233' '\342\200\250'; do
        ! grep -qF -- "$(printf "$bad_text")" hostile.$format || wrong "has $bad_text in it"
    done
done
for format in json firefox speedscope chrome; do
    ran=$format
    ! grep -q '<' hostile.$format || wrong 'could end a script element'
done

# Work grows with the file: looking through all of a crowd for each of it takes minutes of a
# processor. Only these are counted, so a busy machine changes nothing.
soon() # ARGUMENTS...
{
    ran="jsprof $*"
    rc=0
    (ulimit -t 20 && exec "$jsprof" "$@") >/dev/null 2>err || rc=$?
    : >out
    is_rc 0
}
for crowd in crowd threads; do
    ./kinds $crowd >$crowd.cap
    for format in pprof otlp perfetto folded csv perf json firefox speedscope chrome callgrind; do
        soon convert --to $format $crowd.cap
    done
    soon merge $crowd.cap -o -
    soon html $crowd.cap -o -
    for command in info threads list report tree; do
        soon $command $crowd.cap
    done
    rm $crowd.cap
done

# A line stays a line, a field a field.
ran=folded
cp hostile.folded out
lines 7
awk '{ sum += $NF } END { exit sum != 140000000 }' out || wrong 'does not add up to 140 ms'
ran=csv
awk '{ n = 0
       gsub(/""/, "")
       while (match($0, /"[^"]*"/)) $0 = substr($0, 1, RSTART - 1) "x" substr($0, RSTART + RLENGTH)
       if (split($0, field, ",") != 12) bad = 1; if (NR > 1) sum += field[6] }
     END { exit bad || sum != 140000000 }' hostile.csv || wrong 'has rows that are none'
ran=perf
awk '/^[^\t]/ { sum += $5; n++ } END { exit sum != 140000000 || n != 11 }' hostile.perf ||
    wrong 'has not 11 samples that add up to 140 ms'

# More than one block of gzip, of bytes that come out as they went in.
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o gen "$SRCDIR/tests/bench/gen_capture.c"
./gen 3000 30 2500 lines >many.cap
convert pprof many many.pb.gz
ran='gzip -t'
gzip -t many.pb.gz 2>err || wrong 'is not gzip'
gzip -dc many.pb.gz >plain
[ "$(wc -c <plain)" -gt 131072 ] || wrong 'has one block only'
[ "$(tail -c 4 many.pb.gz | od -An -tu4 | tr -d ' ')" = "$(wc -c <plain)" ] ||
    wrong 'does not say its length'
exit $bad
