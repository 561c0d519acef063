#!/bin/sh
# export/pprof.sh - go tool pprof reads what convert writes, with the report's totals.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"
command -v go >/dev/null || { echo 'SKIP: needs golang-go'; exit 77; }
reported every
convert pprof every every.pb.gz
gzip -t every.pb.gz 2>err || wrong 'is not gzip'

pprof() # ARGUMENTS...: leaves out, as Go 1.19 writes it: later ones add columns to lines
{
    ran="go tool pprof $*"
    go tool pprof "$@" >printed 2>err || wrong 'failed'
    sed -E 's/:([0-9]+):0 s=([0-9]+)\(\)$/:\1 s=\2/; s/([0-9])\.0ms/\1ms/' printed >out
}

# -raw is the file itself: samples by location, locations by function, mappings.
pprof -raw every.pb.gz
row 'samples/count cpu/nanoseconds'
row 'thread:[main 100/100]'
row 'kind:[jit]'
row 'work (/srv/lib.js:20:3) /srv/lib.js:42 s=20'
has '/usr/lib/libc.so.6'
has '[vm]'
cp out raw
awk 'BEGIN { n = 0 } /^Mappings/ { exit }
    /^Samples:/ { part = 1; next } /^Locations/ { part = 2; next }
    part == 1 && $1 ~ /^[0-9]+$/ {
        sub(/:/, "", $2); leaf[n] = $3; self[n] = $2; count[n++] = $1 }
    part == 2 { id = $1; sub(/:/, "", id); line = $0
        sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "", line)
        sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=[0-9]+.*$/, "", line); name[id] = line }
    END { for (i = 0; i < n; i++) { print self[i], name[leaf[i]] >"self"
                                    print count[i], name[leaf[i]] >"samples" } }' raw
figures <self >got
same every.self got 'pprof -raw, nanoseconds'
figures <samples >got
same every.samples got 'pprof -raw, samples'

# Ids count from 1 without a gap.
ran='pprof -raw, ids'
awk '/^Locations/ { part = 1; next } /^Mappings/ { exit }
    part { id = $1; sub(/:/, "", id); if (id != ++n) bad = 1 } END { exit bad || !n }' raw ||
    wrong 'ids are not 1, 2, 3...'

pprof -top -nodecount=1000 -nodefraction=0 -unit=ns every.pb.gz
row '40000000ns 28.57% 28.57% 100000000ns 71.43% start (/srv/app.js:1:1)'
row '30000000ns 21.43% 50.00% 30000000ns 21.43% collect'
has 'File: host'
row '0 0% 100% 110000000ns 78.57% run'
pprof -top -sample_index=samples every.pb.gz
row '4 36.36% 36.36% 9 81.82% start (/srv/app.js:1:1)'
pprof -tags every.pb.gz
row '110ms (78.57%): main 100/100'
row '20ms (14.29%): thread 300/300'
row '30ms (21.43%): jit'
pprof -traces every.pb.gz
row 'thread: helper 100/200'
pprof -top -tagfocus=kind=kernel -unit=ns every.pb.gz
row '10000000ns 7.14% 7.14% 10000000ns 7.14% [kernel]'

# Names that would act on a terminal or break a line do neither.
convert pprof hostile hostile.pb.gz
for view in -raw -top -tags -traces; do
    pprof $view hostile.pb.gz
    ! grep -q "$(printf '[\001-\010\013-\037\177]')" out || wrong 'lets a control character through'
done
pprof -raw hostile.pb.gz
has 'work\xff\xc3(\xed\xa0\x80,'
iconv -f UTF-8 -t UTF-8 <out >same || wrong 'is not UTF-8'
awk '/^Samples:/ { part = 1; next } /^Locations/ { exit }
    part && $1 ~ /^[0-9]+$/ { sum += $2 } END { exit sum != 140000000 }' out ||
    wrong 'does not add up to 140 ms'

# What threads were doing: labels that -tagfocus knows, with the report's times.
convert pprof states states.pb.gz
pprof -raw states.pb.gz
row 'state:[asleep] syscall:[ppoll]'
row 'state:[host]'
row 'wait:[the big lock]'
pprof -tags -unit=ms states.pb.gz
for sum in '550ms running' '200ms waiting' '570ms asleep' '80ms host' '450ms ppoll'; do
    grep -Eq "^ *${sum% *} .*: ${sum#* }\$" out || wrong "no $sum"
done
pprof -top -unit=ms -tagfocus=state=waiting states.pb.gz
row '200ms 13.33% 13.33% 200ms 13.33% [waiting for a processor]'
pprof -raw every.pb.gz
hasnt 'state:'
# A function that is interpreted at first and compiled later, below another one, is one location: no
# two samples have the same stack and labels.
cat >later.lark <<'END_OF_PROGRAM'
fn inner(n) {
    let x = 1;
    for i = 0, n { x = (x * 31 + i) & 0xffff; }
    return x;
}
fn outer(n) { return inner(n); }
fn size(i) {
    if i < 8 { return 2000000; }
    return 2000;
}
for i = 0, 8000 { outer(size(i)); }
END_OF_PROGRAM
"$B/bin/lark" --profile-output=later.cap --profile-hz=1000 later.lark
convert pprof later later.pb.gz
pprof -raw later.pb.gz
awk '/^Samples:/ { on = 1; getline; next } /^Locations/ { exit }
    on && /^ *[0-9]+ +[0-9]+:/ { stack = $0; sub(/^[^:]*: /, "", stack); next }
    on { n++; if (seen[stack $0]++) twice = 1 } END { exit twice || !n }' out ||
    wrong 'has a stack twice'
exit $bad
