#!/bin/sh
# export/plain.sh - formats that need no reader but awk have the report's totals.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"
reported every

convert folded every every.folded
awk '{ n = $NF; sub(/ [0-9]*$/, ""); sub(/.*;/, ""); print n, $0 }' every.folded |
    sed 's/_\[[jik]\]$//' | figures >got
same every.self got folded
ran=folded
cp every.folded out
has 'work (/srv/lib.js:20:3)_[j] 30000000'
has 'start (/srv/app.js:1:1)_[i];[kernel]_[k] 10000000'
has 'thread 300/300;start (/srv/app.js:1:1)_[i] 20000000'

convert csv every every.csv
tr -d '"' <every.csv >out
ran=csv
[ "$(head -n 1 out)" = \
    pid,tid,thread,samples,expirations,value,unit,depth,kind,function,line,stack ] ||
    wrong 'has another head'
has '100,100,main,1,2,20000000,cpu_ns,4,native,allocate,42,run;start (/srv/app.js:1:1);work'
sed 1d out | awk -F, '{ print $6, $10 }' | figures >got
same every.self got csv
sed 1d every.csv | tr -d '"' | awk -F, '{ print $4, $10 }' | figures >got
same every.samples got csv

convert perf every every.perf
awk '/^[^\t]/ { value = $5; n++; leaf = 1; next }
     leaf && /^\t/ { sub(/^\t *[0-9a-f]+ /, ""); sub(/ \([^()]*\)$/, "")
                     print value, $0; leaf = 0 }' every.perf | figures >got
same every.self got perf
ran=perf
cp every.perf out
has 'helper 100/200 [000] 1.025000000: 10000000 cpu-clock:'
has ' [kernel] ([kernel])'
has ' collect ([host])'
has ' allocate (/usr/lib/libc.so.6)'
[ "$(grep -c cpu-clock: out)" = 11 ] || wrong 'has not a paragraph for each sample'

# What is chosen of a capture is what is written.
for format in folded csv perf; do
    run convert --to $format --thread helper every.cap
    is_rc 0
    has wait
    hasnt collect
    run convert --to $format --thread nobody every.cap
    is_rc 1
    lines 0
done
run convert --to folded --vm every.cap
hasnt allocate
has 'work (/srv/lib.js:20:3)_[j] 50000000'
run convert --to folded --only nothing every.cap
is_rc 1
is_err 'jsprof: every.cap: no samples in what was chosen of this capture'

# Marks of a process without a selected thread are listed with the first selected thread.
for format in chrome firefox; do
    run convert --to $format --process child every.cap
    is_rc 0
    has sweep
done

# In the order of time, whatever the order in the file.
./kinds back >back.cap
convert perf back times.perf
awk '/^[^\t]/ { print $4 }' times.perf >times
cp times out
ran=perf
[ "$(sort -n times | tr '\n' ' ')" = '1.001000000: 2.001000000: 3.001000000: ' ] ||
    wrong 'has not the three moments'
sort -nc times 2>err || wrong 'goes back in time'

# Both byte orders, and captures of others, which name no clock.
convert csv good one
convert csv big two
cmp one two >out || wrong 'differs by byte order'
run convert --to folded foreign.cap
is_rc 0
has '[other];[libfoo.so.1];[kernel]_[k] 1'
exit $bad
