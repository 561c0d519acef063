#!/bin/sh
# cli/causes.sh - chains that look the same are one, and each task that made others ready is named
# with its runs: in the text, for programs, and in the graph.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

# The stacks of two differ in a line, that of the third in C code, which is not shown.
run causes --limit 0 causes.cap load
is_rc 0
is_err ''
cat >wanted <<'END'
3 tasks, 4 runs of 4.00 ms, delayed by at most 10.0 ms
  promise load (app.js:20)
     made in work (/srv/app/lib/deep/inside/work.js:20:3) ← main (/srv/app/start.js:1:1)
     made ready by promise show (app.js:30), 2 runs
     made ready by timeout other (app.js:40), 1 run
  by timeout tick (app.js:10)
     made in main (/srv/app/start.js:1:1)
  by no task: the program itself, or one that is not in the capture

END
diff wanted out || wrong 'has another chain'
run causes --limit 1 causes.cap load
has 'made ready by promise show (app.js:30), 2 runs'
has 'and by 1 more (--limit 0 shows them)'

# With all functions there are two; a program gets those.
run causes --limit 0 --stacks causes.cap load
[ "$(grep -c '^[0-9]* tasks\{0,1\}, ' out)" = 2 ] || wrong 'has not two chains'
has 'made in [host] ← work'
run causes --csv causes.cap load
cat >wanted <<'END'
is_cut,ready,ready_runs
0,"promise show (app.js:30)","2"
0,"",""
0,"timeout other (app.js:40)","1"
0,"",""
END
sed 's/.*,\([^,]*,[^,]*,[^,]*\)$/\1/' out | diff wanted - || wrong 'has other rows'
run causes --dot causes.cap load
has 't3 -> t2 [style=dashed label="2"]'
has 't4 -> t2 [style=dashed label="1"]'
has 't1 -> t2 [label="3"]'
run convert --to dot causes.cap
has 't3 -> t2 [style=dashed label="2"]'
has 't4 -> t2 [style=dashed label="1"]'
has 't1 -> t2 [label="3"]'
exit $bad
