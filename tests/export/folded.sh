#!/bin/sh
# export/folded.sh - a line each stack, whatever the names are.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"

main='main (/srv/app/start.js:1:1)_[i]'
work='work (/srv/app/lib/deep/inside/work.js:20:3)_[i]'
run convert --to folded good.cap
is_rc 0
is_err ''
lines 4
has "main 100;$main;$work 30000000"
has "main 100;$main 20000000"
has "main 100;$main;leaf, \"quoted\" (/srv/app/leaf.js:7:1)_[i] 10000000"
has "helper two 200;$main;$work 20000000"
[ "$(awk '{ sum += $NF } END { print sum }' out)" = 80000000 ] || wrong 'does not add up to 80 ms'
exit $bad
