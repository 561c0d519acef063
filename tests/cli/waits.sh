#!/bin/sh
# cli/waits.sh - the example with a queue: report shows how long its workers waited for it.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

ran=workers
JSPROF=w.cap JSPROF_CLOCK=wall JSPROF_HZ=500 "$B/bin/workers" >out 2>err || wrong 'failed'
has '100 jobs'
run report --by syscall --csv w.cap
is_rc 0
# Two workers wait most of half a second each; a busy machine makes it longer, not shorter.
awk -F, '$1 ~ /^"?\[the queue\]"?$/ { n = $2 } END { exit n < 300000000 }' out ||
    wrong 'less than 300 ms in the queue'
run report --by state --csv w.cap
grep -Eq '^"?host"?,' out || wrong 'no state of the host'
run tree --state host --native w.cap
is_rc 0
has 'worker'
hasnt 'job (workers.c'
"$B/bin/workers" >out # not profiled: the calls do nothing
has '100 jobs'
exit $bad
