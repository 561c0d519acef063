#!/bin/sh
# fault/files.sh - captures onto paths that can not take them: the host continues, and
# gets the reason. What write() answers later is for unwritten.sh.
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

# A pipe that is read gets the whole capture.
timeout 60 "$HOST" /dev/fd/3 400 3>&1 >"$OUT" 2>&1 | cat >"$SCRATCH/pipe.cap"
said 'close: no error'
readable "$SCRATCH/pipe.cap"
[ "$(samples "$SCRATCH/pipe.cap")" -gt 0 ] || fail 'the capture from a pipe is empty'

[ $FAILED = 0 ]
