#!/bin/sh
# serve/full.sh - jsprof serve and push where the disk is full or can only be read, where the size
# of files is limited, and where the folder of the queue is removed while two commands use it.
#
# SPDX-License-Identifier: MIT
if [ "${1:-}" != --inside ]; then # in namespaces of its own, for a small disk
    command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
    for how in -m '-r -m'; do
        # shellcheck disable=SC2086
        unshare $how sh -c 'mount -t tmpfs none /mnt' 2>/dev/null &&
            exec unshare $how sh "$0" --inside
    done
    echo 'SKIP: needs to be root, or namespaces of users (unshare -r -m)'
    exit 77
fi
. "$SRCDIR/tests/serve/lib.sh"
spin_and_rest_lark
trap 'kill $pids 2>/dev/null || :; umount "$tmp/disk" 2>/dev/null || :; rm -rf "$tmp"' EXIT
mkdir disk
mount -t tmpfs -o size=64k none disk
start "$B/bin/lark" --profile-control spin.lark
python3 -B "$SRCDIR/tests/serve/full.py" "$jsprof" $pid
