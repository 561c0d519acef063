#!/bin/sh
# engines/sidecar.sh - two containers of a pod: namespaces of their own for processes, mounts, users
# and hostname, which share the folder of the sockets and the network. The program is in one, jsprof
# push in the other, with the environment and the command that docs/fleet.md has for Kubernetes. The
# collector gets the profiles.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
collector=$B/engines/otelcol
[ -x "$collector" ] || { echo 'SKIP: needs make deps-engines'; exit 77; }
needs_python
unshare --user --map-root-user --pid --mount --uts --fork true 2>/dev/null ||
    { echo 'SKIP: needs namespaces, which a container may forbid'; exit 77; }
lines_for 'A sidecar in Kubernetes' >pod.yaml
value() # NAME: of the environment of the sidecar's lines
{
    sed -n "s/.*{name: $1, value: \"*\([^}\"]*\)\"*}.*/\1/p" pod.yaml | sort -u
}
shared=$(value XDG_RUNTIME_DIR)
control=$(value JSPROF_CONTROL)
push=$(sed -n 's/.*command: \[jsprof, \(.*\)]/\1/p' pod.yaml | tr -d ',"')
[ "$shared" = /run/jsprof ] && [ "$control" = 1 ] && [ -n "$push" ] ||
    { cat pod.yaml; echo 'docs/fleet.md has other lines'; exit 1; }

port=$(ports 1)
touch err
begin_collector "127.0.0.1:$port"
mkdir -m 700 emptydir

# A folder of its own under /run and /tmp, in which no other container's files are to be seen.
go=
container() # COMMAND...
{
    $go unshare --user --map-root-user --pid --mount --uts --fork --kill-child --mount-proc \
        sh -c 'mount -t tmpfs none /run && mkdir -m 700 '"$shared"' &&
            mount --bind "$1" '"$shared"' && shift && exec "$@"' sh "$tmp/emptydir" \
        env XDG_RUNTIME_DIR="$shared" "$@"
}
go=exec
container env JSPROF_CONTROL="$control" "$B/bin/lark" \
    "$SRCDIR/examples/lark/programs/shares.lark" 100000 >app.out 2>&1 &
app=$! go=
# unshare ignores other signals, and so does the first process of a namespace.
trap 'kill -KILL $app $pids 2>/dev/null || :; rm -rf "$tmp"' EXIT
tries=0
until container "$jsprof" ps --csv >seen 2>&1 && grep -q ',ready,[1-9]' seen; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || { cat app.out seen; echo 'the program does not listen'; exit 1; }
    sleep 0.1
done

# What the lines name, where the collector and the queue are here.
push=$(echo "$push" |
    sed "s|http://collector:4318|http://127.0.0.1:$port|; s|/tmp/queue|$tmp/queue|")
# shellcheck disable=SC2086
container "$jsprof" $push --windows 3 --seconds 2 >pushed 2>&1 ||
    { cp pushed out; ran='jsprof push'; wrong "status $?"; }
is_sent pushed 3
sleep 1.5 # the exporter writes once a second
halt
python3 -B "$SRCDIR/tests/engines/collector.py" profiles.json >out
ran='the collector'
grep -Eq '^1 .* mostwork [1-9]' out || wrong 'has no profile of the program'
grep -q '^profiles 3$' out || wrong 'has not one profile of each window'
cat out
exit $bad
