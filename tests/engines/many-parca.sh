#!/bin/sh
# engines/many-parca.sh - the same as many.sh with Parca, which is asked by its own API for the
# profiles of each process and machine.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib-many.sh"
kind=parca address=$bridge:7070
parca=${PARCA:-$B/engines/parca}
[ -x "$parca" ] || { echo 'SKIP: needs make deps-engines, or PARCA=FILE'; exit 77; }
needs_python
needs_namespaces
engine() { begin_parca $address; }
has_of() # VIA
{
    PYTHONPATH=$SRCDIR/tests/engines python3 -B "$SRCDIR/tests/engines/parca.py" table \
        "http://$address" "$1" <machines
}

touch err
keep_in_files
engine
begin_machines
for i in $all; do echo "$i $(cat $i/pid)"; done >machines
push_live
end_machines
push_stored
has_of live >live.table
has_of stored >stored.table
halt
is_within live $((live - hosts)) $live
is_within stored $sent $sent
compared chance live
compared equal stored
exit $bad
