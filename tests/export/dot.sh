#!/bin/sh
# export/dot.sh - Graphviz draws the tasks of a program as they made each other: each arrow has the
# number of tasks that were made so, and a row of boxes is one box.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"
command -v dot >/dev/null || { echo 'SKIP: needs graphviz'; exit 77; }
cd "$SRCDIR/examples/lark/programs"
cap=$tmp/loop.cap
"$B/bin/lark" --profile-output="$cap" --profile-tasks loop.lark 5 >/dev/null
cd "$tmp"
run convert --to dot "$cap"
is_rc 0
dot -Tplain out >plain.txt 2>err || wrong 'Graphviz refuses it'
[ ! -s err ] || wrong 'Graphviz complains'

# All tasks are in the boxes, and all that have a maker are on an arrow: between boxes, or inside.
"$jsprof" loop --by task --csv "$cap" >tasks.csv
all=$(($(wc -l <tasks.csv) - 1))
sum=$(grep -o '[0-9]* tasks\{0,1\},' out | awk '{ n += $1 } END { print n + 0 }')
[ "$sum" = "$all" ] || wrong "has $sum tasks, not $all"
made=$("$jsprof" causes --limit 0 --csv "$cap" '' | tr -d '"' |
    awk -F , 'NR > 1 && $2 == 0 { n[$1] = $7; t[$1] = $5 } $2 == 1 || $5 > 1 { has[$1] = 1 }
        END { for (c in n) if (has[c]) sum += n[c]; print sum + 0 }')
arrows=$({ grep -o -- '-> t[0-9]* \[label="[0-9]*' out | sed 's/.*"//'
    grep -o '↓ [0-9]*' out | sed 's/.* //'; } | awk '{ n += $1 } END { print n + 0 }')
[ "$arrows" = "$made" ] || wrong "has $arrows tasks on its arrows, not $made"

# The three promises in a row and the timer after them are one box, which begins the next round.
"$B/bin/lark" --profile-output=pipe.cap --profile-tasks \
    "$SRCDIR/examples/lark/programs/pipeline.lark" 3 >/dev/null
run convert -o pipe.dot pipe.cap
is_rc 0
cp pipe.dot out
dot -Tplain out >plain.txt
[ "$(grep -c ^node plain.txt)" = 2 ] || wrong 'has not two boxes'
[ "$(grep -c ^edge plain.txt)" = 2 ] || wrong 'has not two arrows'
row=$(grep -o '↓ [0-9]*' out | sed 's|[^0-9]*||' | tr '\n' ' ')
[ "$row" = '3 3 2 ' ] || wrong "has another row of boxes:$row"
run causes --dot pipe.cap show
is_rc 0
dot -Tplain out >plain.txt
[ "$(grep -c ^node plain.txt)" = 2 ] || wrong 'draws the chains otherwise'

# A capture without tasks, and a choice of what has none.
"$B/bin/lark" --profile-output=none.cap "$SRCDIR/examples/lark/programs/pipeline.lark" 1 >out
run convert --to dot none.cap
is_rc 1
grep -q '^jsprof: none.cap: no tasks in this capture' err || wrong 'does not say why'
run convert --to dot --thread 1 pipe.cap
is_rc 2
exit $bad
