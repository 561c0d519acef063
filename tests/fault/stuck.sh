#!/bin/sh
# fault/stuck.sh - continuous mode whose folder can not be used any more: the present file ends at
# its bound, what comes then is counted as lost, and the next one begins when the folder is back.
#
# SPDX-License-Identifier: MIT
set -u
. "$SRCDIR/tests/fault/lib.sh"
host="$B/tests/fault/folded_host"
unset JSPROF_CONTROL
# A file has half a MiB, and may have one more buffer of a MiB.
export JSPROF_CONTINUOUS="$SCRATCH/folder" JSPROF_SEGMENT=1s JSPROF_KEEP=24h JSPROF_KEEP_MIB=4
export JSPROF_HZ=1000
bound=$(((1 << 19) + (1 << 20)))
pid=
trap 'kill $pid 2>/dev/null; [ -z "$MOUNTED" ] || umount "$MOUNTED"; rm -rf "$SCRATCH"' EXIT

# The folder is a link, which can be replaced at once. Otherwise the host might make it in between.
mkdir "$SCRATCH/files"
lead() # WHERE
{
    ln -s "$1" "$SCRATCH/link" && mv -T "$SCRATCH/link" "$JSPROF_CONTINUOUS"
}
lead "$SCRATCH/files"

# Each stack has names of its own, so the file grows by some hundred KiB a second.
"$host" 3600000 1000000 12 names >"$OUT" 2>&1 &
pid=$!
await() # WHAT COMMAND...: until the command succeeds
{
    what=$1
    shift
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 3000 ] || { ls -lR "$SCRATCH" >"$OUT"; fail "$what"; exit 1; }
        kill -0 $pid || { fail 'the host has ended'; exit 1; }
        sleep 0.1
    done
}
newest() { ls "$SCRATCH/files"/*.cap 2>/dev/null | tail -n 1; }
has_file() { [ "$(newest)" ]; }
await 'no file' has_file

# It leads to a file: to open one there fails, as in a chroot, or as another user.
lead /dev/null
f=$(newest)
size() { wc -c <"$f"; }
full() { [ "$(size)" -ge $((bound - (1 << 12))) ]; }
await 'the file does not grow to its bound' full
is_lost() { "$TOOL" info "$f" >"$OUT" 2>&1; grep -q ' not written' "$OUT"; }
await 'nothing is lost' is_lost
[ "$(size)" -le $bound ] ||
    { ls -l "$SCRATCH/files" >"$OUT"; fail "it has more than $bound bytes"; }
[ "$(newest)" = "$f" ] || fail 'there is another file'
readable "$f"
grep -q 'larger than this process may write' "$OUT.info" ||
    { cp "$OUT.info" "$OUT"; fail 'info does not say why'; }

# The folder is back: so is the recording, in a file that lacks nothing.
lead "$SCRATCH/files"
next() { [ "$(newest)" != "$f" ]; }
await 'no file when the folder is back' next
has_end() { readable "$f"; ! grep -q 'killed or still running' "$OUT.info"; }
await 'the first file has no end' has_end
[ "$(size)" -le $((bound + (1 << 20))) ] || fail "the first file has $(size) bytes"
f=$(newest)
has_samples() { "$TOOL" report --csv "$f" 2>/dev/null | grep -q '^"often'; }
await 'no samples when the folder is back' has_samples
kill -KILL $pid
wait $pid 2>/dev/null
readable "$f"
! is_lost || fail 'samples are lost when the folder is back'
exit $FAILED
