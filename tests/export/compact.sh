#!/bin/sh
# export/compact.sh - a capture in the compact form says what the plain one says, in every
# command and format, and turned back it has the very same frames.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"
mkdir plain compact back
lark=$B/bin/lark programs=$SRCDIR/examples/lark/programs
JSPROF=lark.cap "$lark" "$programs/nbody.lark" 60000 >/dev/null
JSPROF=markdown.cap JSPROF_CLOCK=wall "$lark" "$programs/markdown.lark" \
    "$SRCDIR/docs/capture.md" 20 >/dev/null

# Frames without their places in the file; those that each form has its own of, apart.
frames()
{
    "$jsprof" dump --csv "$1" 2>/dev/null | sed 1d | cut -d , -f 2- |
        grep -av '"jsprof/\(samples\|pcs\|stacks\|states\)"'
}

for name in good big every foreign events evil lark markdown; do
    [ -s $name.cap ] || { ran=$name; : >out; : >err; wrong 'is not there'; continue; }
    cp $name.cap plain/x.cap
    run convert --to compact -o compact/x.cap plain/x.cap
    is_rc 0
    run convert --to syscap -o back/x.cap compact/x.cap
    is_rc 0
    is_err ''
    for form in plain compact back; do
        frames $form/x.cap | grep -a ',SAMPLE,' >$form.samples
        frames $form/x.cap | grep -av ',SAMPLE,' | LC_ALL=C sort >$form.others
    done
    ran="$name.cap"
    cmp plain.samples back.samples >out || wrong 'has other samples when it comes back'
    cmp plain.samples compact.samples >out || wrong 'has other samples when it is compact'
    cmp plain.others back.others >out || wrong 'has other frames when it comes back'
    [ -s plain.samples ] || wrong 'has no samples'
    for view in 'report --json' 'report --lines --csv' 'report --by state --csv' \
        'tree --json' 'threads --json' \
        'tree --bottom-up --csv' 'convert --to json' 'convert --to perf' \
        'convert --to callgrind' 'convert --to firefox' 'convert --to speedscope' \
        'convert --to chrome' 'convert --to folded' 'diff x.cap' 'info --json'; do
        for form in plain compact back; do
            # shellcheck disable=SC2086
            (cd $form && "$jsprof" $view x.cap 2>&1) |
                sed 's/"form":"[a-z ]*"//' >$form.out || true
        done
        ran="$view $name.cap"
        cmp plain.out compact.out >out || wrong 'differs in the compact form'
        cmp plain.out back.out >out || wrong 'differs when it comes back'
    done
    (cd plain && "$jsprof" merge x.cap x.cap -o ../m1.cap) 2>/dev/null || true
    (cd compact && "$jsprof" merge x.cap x.cap -o ../m2.cap) 2>/dev/null || true
    ran="merge $name.cap"
    [ -s m1.cap ] || wrong 'wrote nothing'
    frames m1.cap >m1 && frames m2.cap >m2
    LC_ALL=C sort m1 >m1.sorted
    LC_ALL=C sort m2 | cmp - m1.sorted >out || wrong 'differs in the compact form'
done

# Recorded so; bytecode rows of samples, too, come through.
JSPROF=own.cap JSPROF_HZ=5000 JSPROF_COMPACT=1 "$lark" "$programs/nbody.lark" 240000 >/dev/null
run info own.cap
is_rc 0
has ' bytes, little-endian, compact'
has 'adds up, and the file holds them all'
run info lark.cap
has 'little-endian, plain'
run convert --to syscap -o own.syscap own.cap
is_rc 0
run annotate own.cap advance
is_rc 0
mv out own.rows
run annotate own.syscap advance
is_rc 0
sed 's/own.syscap/own.cap/' out | cmp - own.rows >err || wrong 'other rows when it comes back'
[ "$(grep -c '%' own.rows)" -gt 5 ] || wrong 'has no rows'
samples=$("$jsprof" info own.cap | awk '$1 == "samples" { gsub(",", ""); print $2 }')
saved=$(($(stat -c %s own.syscap) - $(stat -c %s own.cap)))
[ "$saved" -gt $((samples * 150)) ] || wrong "saves $saved bytes in $samples samples"

# Cut off anywhere, it reads up to there.
size=$(stat -c %s own.cap)
for part in 10 30 50 70 90; do
    head -c $((size * part / 100)) own.cap >cut.cap
    run report cut.cap
    [ "$rc" -le 1 ] || wrong 'crashes'
    [ "$(wc -l <err)" -le 2 ] || wrong 'says too much'
done

# A byte of it is wrong: one line, with its place.
at=$("$jsprof" dump own.cap | awk '/jsprof\/stacks/ { print $1; exit }')
cp own.cap bad.cap
printf '\377\377\377\377' | dd of=bad.cap bs=1 seek=$((at + 284)) conv=notrunc 2>/dev/null
run report bad.cap
why='malformed record in jsprof/stacks, the rest of it skipped'
grep -qxF "jsprof: bad.cap: $why (at byte $((at + 284)))" err || wrong 'does not say where'
[ "$(wc -l <err)" -le 3 ] || wrong 'says too much'

# JSPROF_COMPACT is 0 or 1.
JSPROF=no.cap JSPROF_COMPACT=yes "$lark" "$programs/fib.lark" 5 >out 2>err || true
[ -s err ] || { ran='JSPROF_COMPACT=yes'; wrong 'is taken'; }

# Nothing can be chosen of what keeps all there is.
run convert --to syscap --thread main lark.cap -o no.syscap
is_rc 2
exit $bad
