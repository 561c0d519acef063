#!/bin/sh
# fault/files.sh - captures onto paths that can not take them: the host continues, and
# gets the reason. Seen failing without the signals held back (SIGPIPE, SIGXFSZ).
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

host "$SCRATCH/no/such/folder.cap" 1
said 'open: no such file or directory'

host "$SCRATCH" 1
said 'open: is a directory'

host "$HOST/x.cap" 1
said 'open: a part of the path is not a directory'

host /dev/full 50
said 'stop: no space left on device'
said 'close: no space left on device'

# A folder and a file without permission, for a user without privileges.
mkdir "$SCRATCH/closed" && : >"$SCRATCH/closed.cap"
chmod 555 "$SCRATCH/closed" && chmod 444 "$SCRATCH/closed.cap" && chmod 755 "$SCRATCH"
as=
[ "$(id -u)" != 0 ] || as='setpriv --reuid=65534 --regid=65534 --clear-groups'
for path in "$SCRATCH/closed/x.cap" "$SCRATCH/closed.cap"; do
    $as "$HOST" "$path" 1 >"$OUT" 2>&1 || fail "the host ended with $?: $path"
    said 'open: permission denied'
    said done
done

# A disk that fills up while we record, and one that is full from the start.
mkdir "$SCRATCH/disk"
if mount -t tmpfs -o size=16k none "$SCRATCH/disk" 2>/dev/null; then
    MOUNTED=$SCRATCH/disk
    host "$MOUNTED/x.cap" 1500
    said 'stop: no space left on device'
    said 'close: no space left on device'
    readable "$MOUNTED/x.cap"
    grep -q 'no space' "$OUT.info" || [ "$(samples "$MOUNTED/x.cap")" -gt 0 ] ||
        fail 'nothing of a capture on a full disk can be read'
    host "$MOUNTED/y.cap" 50
    said 'stop: no space left on device'
    umount "$MOUNTED" && MOUNTED=
else
    echo 'no right to mount: only the limit of a file stands for a full disk'
fi

# The limit of a file's size, which comes with a signal that ends a program.
(ulimit -f 16 && exec "$HOST" "$SCRATCH/limit.cap" 1500) >"$OUT" 2>&1
said 'stop: the file is larger than this process may write'
said done
readable "$SCRATCH/limit.cap"

# A pipe whose reader leaves at once.
{ timeout 60 "$HOST" /dev/fd/3 100 3>&1 >"$OUT" 2>&1; echo $? >"$SCRATCH/rc"; } |
    head -c 1 >/dev/null
[ "$(cat "$SCRATCH/rc")" = 0 ] || fail "the host on a pipe ended with $(cat "$SCRATCH/rc")"
said done
grep -qx 'stop: the reader of the pipe went away' "$OUT" || said 'stop: no error'

# A pipe that is read gets the whole capture.
timeout 60 "$HOST" /dev/fd/3 400 3>&1 >"$OUT" 2>&1 | cat >"$SCRATCH/pipe.cap"
said 'close: no error'
readable "$SCRATCH/pipe.cap"
[ "$(samples "$SCRATCH/pipe.cap")" -gt 0 ] || fail 'the capture from a pipe is empty'

[ $FAILED = 0 ]
