#!/bin/sh
# fault/unwritten.sh - a table of what write() can answer on the way: what the file says of the
# recording is what the library counted, or that it is incomplete; it never says of a part that
# it adds up. Seen failing without the reserved place ("adds up" of 72 where 19,552 had been
# counted), and where a sample whose weight is not in the file was counted with it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

SHIM=$SCRATCH/write_shim.so
"${CC:-gcc}" -O1 -shared -fPIC -o "$SHIM" "$SRCDIR/tests/fault/shim/write.c" || exit 1
CAP=$SCRATCH/x.cap MS=250 LONG_MS=1000
export JSPROF_HZ=10000 JSPROF_CLOCK=wall JSPROF_SOURCE=looker

counted() # KEY - what the stats of the host said
{
    sed -n "s/^stats:.* $1 \([0-9]*\).*/\1/p" "$OUT"
}

info() # COLUMN - of the file's first thread
{
    "$TOOL" info --csv "$CAP" 2>/dev/null | awk -F, -v column="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        NR == 2 { print $at }'
}

# The file has the numbers of the library, though not all that they count.
told() # WHAT
{
    readable "$CAP"
    [ "$(info all_expirations)" = "$(counted expirations)" ] ||
        fail "$1: the file says $(info all_expirations) expirations"
    [ "$(info all_kept)" = "$(counted kept)" ] || fail "$1: the file says $(info all_kept) kept"
    [ "$(counted lost_write)" -gt 0 ] || fail "$1: nothing was lost"
    incomplete "$1"
    grep -q 'all that is missing is counted' "$OUT.info" || fail "$1: not all is counted"
}

# It says that there was more.
incomplete() # WHAT
{
    "$TOOL" info "$CAP" >"$OUT.info" 2>/dev/null
    [ "$(info complete)" = 0 ] || fail "$1: the file is complete"
    grep -q ': incomplete' "$OUT.info" || fail "$1: info does not say so"
    ! grep -q 'adds up' "$OUT.info" || fail "$1: info says that it adds up"
}

whole() # WHAT
{
    readable "$CAP"
    [ "$(info complete)" = 1 ] || fail "$1: the file is not complete"
    grep -q ': adds up, and the file holds them all' "$OUT.info" || fail "$1: info does not say so"
}

# Errors that a shim answers from the 30,000th byte on.
shim() # WHAT ERRNO [NAME=VALUE...]
{
    what=$1 number=$2
    shift 2
    env LD_PRELOAD="$SHIM" SHIM_BYTES=30000 SHIM_ERRNO="$number" "$@" JSPROF="$CAP" \
        timeout 60 "$HOST" - $MS >"$OUT" 2>&1 || fail "$what: the host ended with $?"
    said done
}

# A host that finds no reader yet is tried again.
into_pipe() # MS
{
    tries=0
    while JSPROF=$SCRATCH/pipe host - "$1"; ! grep -q '^environment: started' "$OUT"; do
        tries=$((tries + 1))
        [ $tries -lt 100 ] || { fail 'no reader came'; return; }
    done
}

for compact in 0 1; do
    export JSPROF_COMPACT=$compact

    shim EIO 5
    said 'close: input/output error'
    told "EIO, compact $compact"

    shim EDQUOT 122
    said 'close: disk quota exceeded'
    told "EDQUOT, compact $compact"

    # A disk that takes nothing once: what waited meanwhile comes after it.
    shim 'ENOSPC for a while' 28 SHIM_TIMES=1
    whole "ENOSPC for a while, compact $compact"

    # Nor can the reserved place be written.
    shim 'EIO everywhere' 5 SHIM_PLACES=1
    incomplete "EIO everywhere, compact $compact"

    (ulimit -f 60 && exec env JSPROF="$CAP" timeout 60 "$HOST" - $MS) >"$OUT" 2>&1
    said 'close: the file is larger than this process may write'
    told "the limit of a file, compact $compact"

    mkdir -p "$SCRATCH/disk"
    if mount -t tmpfs -o size=32k none "$SCRATCH/disk" 2>/dev/null; then
        MOUNTED=$SCRATCH/disk CAP=$SCRATCH/disk/x.cap
        JSPROF=$CAP host - $MS
        said 'close: no space left on device'
        told "a full disk, compact $compact"
        rm "$CAP"
        JSPROF=$CAP "$HOST" - 60000 >"$OUT" 2>&1 &
        pid=$!
        until "$TOOL" info "$CAP" 2>/dev/null | grep -q 'no space left' || ! kill -0 $pid; do
            sleep 0.1
        done
        kill -KILL $pid
        wait $pid 2>/dev/null
        incomplete "killed on a full disk, compact $compact"
        grep -q 'killed.*: no space left' "$OUT.info" || fail 'info does not say why'
        CAP=$SCRATCH/x.cap
        umount "$MOUNTED" && MOUNTED=
    else
        echo 'no right to mount: only the limit of a file stands for a full disk'
    fi

    # A pipe whose reader goes in the middle, and one that is read after all was given up.
    rm -f "$SCRATCH/pipe"
    mkfifo "$SCRATCH/pipe"
    head -c 8000 <"$SCRATCH/pipe" >"$CAP" &
    reader=$!
    into_pipe $MS
    wait $reader
    said 'close: the reader of the pipe went away'
    incomplete "a reader that goes, compact $compact"

    (exec 4<"$SCRATCH/pipe"
        while [ -d "$SCRATCH" ] && [ ! -e "$SCRATCH/go" ]; do sleep 0.1; done
        exec cat <&4 >"$CAP") &
    reader=$!
    into_pipe $LONG_MS # more than a pipe takes, also where samples are few
    grep -q '^stop: .* a pipe that takes nothing' "$OUT" || fail 'stop says nothing of the pipe'
    grep -q '^close: .* a pipe that takes nothing' "$OUT" || fail 'close says nothing of it'
    : >"$SCRATCH/go"
    wait $reader
    rm "$SCRATCH/go"
    incomplete "a pipe that nobody reads, compact $compact"
done

[ $FAILED = 0 ]
