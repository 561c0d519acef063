#!/bin/sh
# fault/continuous.sh - continuous mode: files of folded segments whose account adds up and whose
# shares are right; also after SIGKILL, on a full disk, where the folder goes away, where somebody
# sets the clock, and where two processes share a folder.
#
# SPDX-License-Identifier: MIT
set -u
. "$SRCDIR/tests/fault/lib.sh"
host="$B/tests/fault/folded_host"
unset JSPROF_CONTROL
export JSPROF_CONTINUOUS="$SCRATCH/folder" JSPROF_SEGMENT=1s JSPROF_KEEP=24s JSPROF_HZ=1000

# run ARGUMENT...: the host ends well, and closes its files well.
run()
{
    timeout 100 "$host" "$@" >"$OUT" 2>&1 || fail "the host ended with $?: $*"
    grep -qx 'close: good' "$OUT" || fail "close: $*"
}

# whole FILE...: each has all of its part, and the account adds up.
whole()
{
    for f; do
        readable "$f"
        grep -q 'lost: adds up, and the file holds them all' "$OUT.info" ||
            { cp "$OUT.info" "$OUT"; fail "the account of $f"; }
    done
}

# quarters FILE...: "often" has three quarters, as far as chance allows. A sample may be worth as
# much as a tick of the kernel.
TICK_MS=4
quarters()
{
    "$TOOL" report --csv "$@" >"$OUT" 2>&1 || fail "no report of $*"
    awk -F, '/^function,/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
        /^"often/ { often += $at["total"] }
        /^"rare/ { rare += $at["total"] }
        END { all = often + rare
              if (all) printf "%.2f %.0f\n", 100 * often / all, all / 1e6 }' \
        "$OUT" >"$SCRATCH/share"
    read -r share ms <"$SCRATCH/share" && near "$share" 75 "$((ms / TICK_MS))" 1 >"$OUT" ||
        fail "the shares of $*"
}

# kept FILE...: how many expirations they have.
kept()
{
    for f; do "$TOOL" info --csv "$f"; done 2>/dev/null | awk -F, '
        /all_kept/ { for (i = 1; i <= NF; i++) at[$i] = i; next } { n += $at["all_kept"] }
        END { print n + 0 }'
}

# One process: a file a second, and all of it is there.
run 1500 20 8
set -- "$JSPROF_CONTINUOUS"/*.cap
[ $# -ge 2 ] || { ls -l "$JSPROF_CONTINUOUS" >"$OUT"; fail "$# files of two seconds"; }
whole "$@"
grep -q 'folded in segments of 1 s' "$OUT.info" ||
    { cp "$OUT.info" "$OUT"; fail 'it is not folded'; }
quarters "$@"
"$TOOL" merge -o "$SCRATCH/all.cap" "$@" >"$OUT" 2>&1 || fail 'merge'
quarters "$SCRATCH/all.cap"
kept=$(kept "$@")
[ "$kept" -gt 500 ] && [ "$kept" -lt 6000 ] || fail "$kept expirations of 1,500"
rm -rf "$JSPROF_CONTINUOUS"

# A hundred samples a second or fewer are taken by timers, so no thread of ours wakes for one.
# Each expiration is a period of CPU time; so it is after a conversion, and in merged captures.
JSPROF_HZ=100 run 1000 20 8
set -- "$JSPROF_CONTINUOUS"/*.cap
whole "$@"
grep -q '^  source  *timer$' "$OUT.info" || { cp "$OUT.info" "$OUT"; fail 'not by timers'; }
"$TOOL" merge -o "$SCRATCH/all.cap" "$@" >"$OUT" 2>&1 || fail 'merge'
"$TOOL" convert --to syscap -o "$SCRATCH/plain.syscap" "$1" >"$OUT" 2>&1 || fail 'convert'
least=50
for f in "$SCRATCH/all.cap" "$1" "$SCRATCH/plain.syscap"; do
    "$TOOL" info --csv "$f" >"$OUT"
    "$TOOL" threads --csv "$f" >>"$OUT"
    awk -F, -v least=$least '
        /all_kept/ || /cpu_ns/ {
            split("", at); for (i = 1; i <= NF; i++) at[$i] = i; next }
        "all_kept" in at { kept = $at["all_kept"] }
        "value" in at { cpu += $at["cpu_ns"]; value += $at["value"] }
        END { exit !(kept >= least && cpu == kept * 10000000 && value == cpu) }' "$OUT" ||
        fail "the CPU time of $f"
    least=0 # of the first file on a slow machine
done
rm -rf "$JSPROF_CONTINUOUS"

begin() # ARGUMENT...: in the background, as $pid; it has a file
{
    "$host" "$@" >"$OUT" 2>&1 &
    pid=$!
    tries=0
    while ! ls "$JSPROF_CONTINUOUS"/*-$pid-*.cap >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { fail "$*: has no file"; break; }
        sleep 0.1
    done
}

until_kept() # N: the files of $pid have more expirations than that
{
    until [ "$(kept "$JSPROF_CONTINUOUS"/*-$pid-*.cap)" -gt "$1" ] || ! kill -0 $pid; do
        sleep 0.2
    done
}

end() # WHAT: ask $pid to end; it ends well
{
    kill -TERM $pid
    wait $pid || fail "$1"
}

# SIGKILL: what is in the file is what its total says, up to the last segment.
JSPROF_KEEP=24h begin 100000 20 8
until_kept 50 # its first segments are there
kill -KILL $pid
wait $pid 2>/dev/null
set -- "$JSPROF_CONTINUOUS"/*.cap
[ $# = 1 ] || fail "$# files of a day in some seconds"
readable "$1"
grep -q 'killed or still running' "$OUT.info" || { cp "$OUT.info" "$OUT"; fail 'it has an end'; }
quarters "$1"
"$TOOL" info --csv "$1" >"$OUT"
awk -F, '/all_kept/ { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { kept = $at["all_kept"]; all = $at["all_expirations"] }
    END { exit !(kept > 50 && kept == all) }' "$OUT" || fail 'the total of a killed process'
rm -rf "$JSPROF_CONTINUOUS"

# Two processes in one folder: each has its files, and removes no file that is written.
JSPROF_KEEP_MIB=1 begin 1000 20 8
first=$pid
begin 1000 20 8
wait $first || fail 'the first of two'
wait $pid || fail 'the second of two'
for one in $first $pid; do
    ls "$JSPROF_CONTINUOUS"/*-$one-*.cap >/dev/null 2>&1 || fail "no file of process $one"
done
whole "$JSPROF_CONTINUOUS"/*.cap
quarters "$JSPROF_CONTINUOUS"/*.cap

# The files of ended processes go when they are old; others' files and links stay.
touch -d '2 days ago' "$JSPROF_CONTINUOUS"/*-$first-*.cap
touch -d '2 days ago' "$JSPROF_CONTINUOUS/other-1-1-000001.cap" "$JSPROF_CONTINUOUS/notes.cap"
run 300 20 8
for f in "$JSPROF_CONTINUOUS"/*-$first-*.cap; do
    [ ! -e "$f" ] || fail "$f is two days old"
done
ls "$JSPROF_CONTINUOUS"/*-$pid-*.cap >/dev/null || fail 'a new file of an ended process is gone'
[ -e "$JSPROF_CONTINUOUS/other-1-1-000001.cap" ] && [ -e "$JSPROF_CONTINUOUS/notes.cap" ] ||
    fail 'files of others are gone'
rm -rf "$JSPROF_CONTINUOUS"

# Somebody removes the folder: it comes back, and the next file counts what the removed one did not
# take.
begin 100000 20 8
rm -rf "$JSPROF_CONTINUOUS"
until_kept 200
end 'the folder was removed'
whole "$JSPROF_CONTINUOUS"/*.cap
for f in "$JSPROF_CONTINUOUS"/*.cap; do "$TOOL" info "$f"; done >"$OUT" 2>&1
[ "$(grep -c ' not written' "$OUT")" = 1 ] || fail 'the loss is not counted once'
quarters "$JSPROF_CONTINUOUS"/*.cap
rm -rf "$JSPROF_CONTINUOUS"

# More stacks than there is room for: counted, and everything else is right.
JSPROF_KEEP=1h JSPROF_SEGMENT=60s JSPROF_SOURCE=looker run 2000 500 400
lost=$(sed -n 's/.*lost_fold \([0-9]*\)$/\1/p' "$OUT")
[ "${lost:-0}" -gt 0 ] || fail 'nothing was lost of 500 stacks of 400 frames'
whole "$JSPROF_CONTINUOUS"/*.cap
"$TOOL" info "$JSPROF_CONTINUOUS"/*.cap >"$OUT"
grep -q 'not folded' "$OUT" || fail 'info does not name the loss'
rm -rf "$JSPROF_CONTINUOUS"

# Steps of the clock: no file of the process goes before its time.
"${CC:-gcc}" -O1 -shared -fPIC -o "$SCRATCH/clocks.so" "$SRCDIR/tests/fault/shim/clocks.c" || exit 1
(export LD_PRELOAD="$SCRATCH/clocks.so" && exec timeout 100 "$host" 1500 20 8) >"$OUT" 2>&1 ||
    fail 'the clock was set'
set -- "$JSPROF_CONTINUOUS"/*.cap
[ $# -ge 2 ] || { ls -l "$JSPROF_CONTINUOUS" >"$OUT"; fail "$# files while the clock was set"; }
whole "$@"
quarters "$@"
rm -rf "$JSPROF_CONTINUOUS"

# A full disk: the host runs on, and the account says what the file could not take; then a disk
# with room again.
mkdir "$SCRATCH/disk"
if mount -t tmpfs -o size=96k none "$SCRATCH/disk" 2>/dev/null; then
    MOUNTED=$SCRATCH/disk
    head -c 80k /dev/zero >"$MOUNTED/others"
    JSPROF_CONTINUOUS=$MOUNTED/folder
    timeout 100 "$host" 2000 500 40 >"$OUT" 2>&1 || fail 'the disk was full'
    grep -q '^close: no space left' "$OUT" || fail 'nobody says that the disk is full'
    for f in "$JSPROF_CONTINUOUS"/*.cap; do
        [ ! -s "$f" ] || readable "$f"
    done
    rm -rf "$JSPROF_CONTINUOUS"
    JSPROF_KEEP=1h begin 100000 20 8
    head -c 80k /dev/zero >"$MOUNTED/more" 2>/dev/null
    until "$TOOL" info "$JSPROF_CONTINUOUS"/*.cap 2>/dev/null | grep -q 'no space left' ||
        ! kill -0 $pid; do
        sleep 0.1
    done
    rm -f "$MOUNTED/more" "$MOUNTED/others"
    until_kept "$(kept "$JSPROF_CONTINUOUS"/*.cap)"
    end 'the disk has room again'
    whole "$JSPROF_CONTINUOUS"/*.cap
    umount "$MOUNTED" && MOUNTED=
else
    echo 'no right to mount: no test of a full disk'
fi
JSPROF_CONTINUOUS=$SCRATCH/folder

# no WHAT: the host can not start, and says so.
no()
{
    "$host" 1 1 1 >"$OUT" 2>&1 && fail "it starts: $1"
    grep -qF -- "start: $1" "$OUT" || fail "it does not say: $1"
}
JSPROF=$SCRATCH/x.cap no 'continuous: not together with path'
JSPROF_STALLS=1s no 'continuous: not together with stalls'
JSPROF_SEGMENT=0s no \
    'JSPROF_SEGMENT=0s: a time with a unit, such as 10s, 90m, 24h or 7d, is allowed'
JSPROF_KEEP=1s no 'keep_s is 1: 24 to 8640000 is allowed'
JSPROF_KEEP_MIB=x no 'JSPROF_KEEP_MIB=x: a whole number from 1 to'
: >"$SCRATCH/file"
JSPROF_CONTINUOUS=$SCRATCH/file no "$SCRATCH/file: a part of the path is not a directory"
JSPROF_CONTINUOUS=$SCRATCH/no/such no "$SCRATCH/no/such: no such file or directory"
exit $FAILED
