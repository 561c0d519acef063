#!/bin/sh
# engines/lines.sh - the lines of docs/fleet.md for Alloy and for Kubernetes are what Alloy's own
# parser and the types of Kubernetes' own API understand, and broken ones are not.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
lines=$B/engines/lines
[ -x "$lines" ] || { echo 'SKIP: needs make deps-engines'; exit 77; }

reads() # KIND STATUS <LINES
{
    ran="lines $1"
    rc=0
    "$lines" "$1" >out 2>err || rc=$?
    is_rc "$2"
}

lines_for 'Alloy, for Pyroscope' >alloy.lines
lines_for 'A sidecar in Kubernetes' >pod.yaml
reads alloy 0 <alloy.lines
reads pod 0 <pod.yaml
has '2 containers'
sed '$d' alloy.lines >broken.lines
reads alloy 1 <broken.lines
has 'expected }'
sed 's/command:/comand:/' pod.yaml >broken.yaml
reads pod 1 <broken.yaml
has 'unknown field "comand"'
exit $bad
