#!/bin/sh
# browser/speedscope.sh - speedscope's own page, in Chromium, shows the report's figures; it
# also opens the folded and pprof files.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/node/lib.sh"
need speedscope playwright-core
CHROMIUM=$(command -v chromium) || { echo 'SKIP: needs chromium'; exit 77; }
. "$SRCDIR/tests/export/lib.sh"
export CHROMIUM
show() # FILE NAME [PROFILES]: leaves out
{
    ran="speedscope on $1"
    "$node" "$SRCDIR/tests/browser/speedscope.mjs" "$@" >out 2>err || wrong 'failed'
    ! grep ERROR out || wrong 'complains'
}

reported every
convert speedscope every every.speedscope.json
# The figures of this capture are multiples of 10 ms, so nothing is lost by rounding.
show every.speedscope.json every.speedscope.json
[ "$(grep -c ^profile out)" = 3 ] || wrong 'has not a profile for each thread'
has "$(printf '80.00ms (73%%)\t20.00ms (18%%)\tstart')"
awk -F'\t' '!/^profile/ { sub(/ms.*/, "", $2); print $2 * 1e6, $3 }' out | figures >got
same every.self got 'speedscope, self'

# The same by its other importers.
for format in folded:txt pprof:pb.gz; do
    convert "${format%:*}" every "every.${format#*:}"
    show "every.${format#*:}" "every.${format#*:}"
    has collect
    has allocate
done
has "$(printf '50.00ms (36%%)\t30.00ms (21%%)\twork')"

convert speedscope hostile hostile.speedscope.json
show hostile.speedscope.json hostile.speedscope.json 1
has 'alert(1)'
exit $bad
