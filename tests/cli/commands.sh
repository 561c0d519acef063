#!/bin/sh
# cli/commands.sh - what threads, list, callers, callees and diff print of a known
# capture, what the filters leave of it, and that CSV and JSON say the same.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

work='work (/srv/app/lib/deep/inside/work.js:20:3)'

run threads --only work good.cap # losses are of no function
hasnt UNSEEN

run callees --limit 1 main good.cap
row '100.0% 80 ms (nobody: outermost)'
row '12.5% 10 ms (1 more)'
run callers wor good.cap
is_rc 1
is_err "jsprof: good.cap: no function \"wor\" (there are: $work)"
run callers good.cap
is_rc 2
run callers work good.cap more
is_rc 2

run list --time 22ms.. --each events.cap
lines 12 # also those that began before and lasted until then
run list --messages events.cap
is_rc 0
has '      1  7.00 ms  7.00 ms  7.00 ms  gc / sweep  why 6'
row 'gc / heap 5 2,000 -3 1399 1,000 4,000 4,000'
[ "$(grep -c ' gc / sweep ' out)" = 20 ] || wrong 'has not a row for each message'
run list --messages --csv events.cap
has 'mark,"gc","sweep","why 0",1,1000000,1000000,'
has 'counter,"gc","heap",,5,6994,'

run diff --limit 0 good.cap good.cap
is_rc 0
row "62.5% 62.5% +0.0 $work"
has '0 of 3 functions changed by more than chance explains (*).'
run diff good.cap
is_rc 2

# What counts: 8 samples of 10 ms at 7 to 14 ms; the last two in thread 200.
share() # ARGUMENTS...: the samples that are left
{
    run report "$@"
    sed -n 's/^100% is \(.*, in \)\{0,1\}\([0-9]*\) samples\{0,1\}\b.*/\2/p' out
}
left() { [ "$(share "$2" good.cap)" = "$1" ] || wrong "has $(share "$2" good.cap), not $1"; }
left 8 --only=main
left 5 --only=^wor
left 5 --under=work
left 7 --not=leaf
left 5 '--focus=^(work|helper)'
left 8 --hide=^work
left 8 --top-of=vm
left 8 --collapse-recursion
# good.cap: work and leaf are called by main; main itself has 2 of 8 samples.
run report --csv --hide '^(work|leaf)' good.cap
row '"main (/srv/app/start.js:1:1)",vm,80000000,80000000,8,8'
run report --top-of vm --csv good.cap
row '"main (/srv/app/start.js:1:1)",vm,20000000,20000000,2,2'
# The last mark lasts until the sixth of eight samples; the one before ends earlier.
left_of() { [ "$(share "$2" "$3")" = "$1" ] || wrong "has not $1 samples"; }
left_of 6 --during=sweep events.cap
left_of 6 --during=gc/sweep events.cap
for command in report tree threads 'callers main' 'callees main' list 'convert --to csv' \
    'html -o -'; do
    # shellcheck disable=SC2086
    run $command --during nothing events.cap
    is_rc 1
    is_err 'jsprof: events.cap: no mark "nothing" (jsprof list shows the marks)'
    run $command --focus '(' events.cap
    is_rc 2
done
run tree --top-of wheels good.cap
is_rc 2
kinds='vm, jit, label, gc, native, synth, kernel and other'
is_err "jsprof tree: --top-of knows $kinds, not \"wheels\" (try: jsprof tree --help)"
left 2 --thread=200
left 8 --process=100
left 8 --process=host
run report --process '/srv/bin/one --flag' crowd.cap
is_rc 0
run report --process '/srv/bin/one --flog' crowd.cap
is_rc 1
left 8 --category=script
left 8 --hide-system
left 2 --time=14ms..16ms
left 5 --time=..14ms
left 2 --time=15ms..
left 8 --clock=cpu
run report --under work good.cap
hasnt main
run tree --only leaf --json good.cap
has '"function":"leaf, \"quoted\" (/srv/app/leaf.js:7:1)"'
# Programs get every branch, however small; text hides those below 1 %.
run tree --csv crowd.cap
is_rc 0
cp out all.csv
run tree --csv --min 0 crowd.cap
cmp -s out all.csv || wrong 'has not every branch by default'
run tree --csv --min 1 crowd.cap
[ "$(wc -l <out)" -lt "$(wc -l <all.csv)" ] || wrong 'no branch of crowd.cap is small'
printf 'mine name=work*\n# none\n' >rules
left5="$(share --categories rules --category mine good.cap)"
[ "$left5" = 5 ] || wrong "has $left5, not 5"
misuse() # WORD ARGUMENTS...
{
    said=$1
    shift
    run report "$@" good.cap
    is_rc 2
    grep -qF -- "$said" err || wrong "does not say: $said"
}
misuse '--time wants FROM..TO' --time 5
misuse '--time wants FROM..TO' --time 5s..4s
misuse '--time wants FROM..TO' --time 1..2..3
misuse '--time wants FROM..TO' --time 1h..
misuse '--clock is cpu or wall' --clock sun
misuse 'no category "nope"' --category nope
misuse '--only: ' --only 'a('
misuse '--csv and --json exclude each other' --csv --json
run report --category mine good.cap
is_rc 2
run report --by category --categories rules good.cap
is_rc 0
row '62.5% 17.1 50 ms 5 62.5% 50 ms ██████████ mine'
row 'SELF ± TIME SAMPLES TOTAL TIME CATEGORY'
run report --by category --categories rules --csv good.cap
printf '%s\n' group,self,total,self_samples,total_samples '"mine",50000000,50000000,5,5' \
    '"script",30000000,80000000,3,8' | cmp -s - out || wrong 'has other categories'
run report --by category --only work --limit 1 good.cap
has 'script'
run report --by kind --json good.cap
has '{"group":"vm","self":80000000,"total":80000000,"self_samples":8,"total_samples":8}'
run report --by category --limit 1 --categories rules good.cap
has '1 more category has 37.5% of self (--limit 0 shows it)'
by() # GROUP ROW...: all rows of good.cap
{
    group=$1
    shift
    run report --by "$group" --csv good.cap
    printf '%s\n' group,self,total,self_samples,total_samples "$@" | cmp -s - out ||
        wrong "has other ${group}s"
}
by file '"/srv/app/lib/deep/inside/work.js",50000000,50000000,5,5' \
    '"/srv/app/start.js",20000000,80000000,2,8' '"/srv/app/leaf.js",10000000,10000000,1,1'
by line '"/srv/app/lib/deep/inside/work.js:22",50000000,50000000,5,5' \
    '"/srv/app/start.js:21",20000000,20000000,2,2' '"/srv/app/leaf.js:23",10000000,10000000,1,1' \
    '"main (/srv/app/start.js:1:1)",0,60000000,0,6'
by thread '"main 100",60000000,60000000,6,6' '"helper two 200",20000000,20000000,2,2'
misuse '--by knows function, category, kind, tier, module, file, line, thread, state, sysc' \
    --by x
run report --markdown --categories rules --lines good.cap
is_rc 0
row '# Profile of `host script.x`'
row '| 62.5% | 62.5% | 5 | vm | `work (/srv/app/lib/deep/inside/work.js:20:3)`, mostly `:22` |'
row 'Self by category: 62.5% `mine`, 37.5% `script`.'
row '1. 100.0% `main (/srv/app/start.js:1:1)`'
has '`jsprof annotate` on `good.cap` shows the lines of `work (/srv'
run report --markdown --limit 1 good.cap
row '2 more functions have 37.5% of self.'
run report --markdown hostile.cap
is_rc 0
! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]')" out || wrong 'has control characters'
misuse '--markdown has all in one: leave out --by, --csv and --json' --markdown --by kind
printf 'mine colour=red\n' >rules
run report --categories rules good.cap
is_rc 1
is_err 'jsprof: rules: line 1: a condition is name=, file=, module= or kind='
run report --categories absent good.cap
is_rc 1
is_err 'jsprof: absent: No such file or directory'
run report --only nobody good.cap
is_rc 1
is_err 'jsprof: good.cap: no samples in what was chosen of this capture'
run report --under nobody good.cap
is_rc 1
is_err 'jsprof: good.cap: no function "nobody" was sampled'
run tree --under nobody --thread 100 good.cap
is_rc 1
is_err 'jsprof: good.cap: no function "nobody" was sampled in what was chosen'
run report --under main --only nobody good.cap
is_rc 1
is_err 'jsprof: good.cap: no samples in what was chosen of this capture'
run report --clock wall good.cap
is_rc 1
run report --clock cpu foreign.cap
is_rc 1
is_err 'jsprof: foreign.cap: --clock cpu: the capture names no clock'
run report --clock cpu passedon.cap
is_err 'jsprof: passedon.cap: --clock cpu: the capture does not record how much time a sample '\
'represents'

# CSV and JSON have the same rows, and programs can read both.
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
cat >same.py <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1], errors='replace', newline='')))
data = json.load(open(sys.argv[2]))['rows']
text = [{k: '' if v is None else str(int(v) if isinstance(v, bool) else v)
         for k, v in r.items()} for r in data]
assert rows, 'no rows'
for a, b in zip(rows, text):
    for k in a:
        try:
            same = a[k] == b[k] or float(a[k]) == float(b[k])
        except ValueError:
            same = False
        assert same, (k, a[k], b[k])
assert len(rows) == len(text), (len(rows), len(text))
END
for what in 'info' 'threads' 'list' 'list --each' 'report' 'tree --min 0' 'callers work' \
    'list --messages' 'callees main' 'dump'; do
    file=events.cap
    run $what --csv $file
    is_rc 0
    cp out csv
    run $what --json $file
    is_rc 0
    cp out json
    python3 same.py csv json || wrong 'JSON differs from CSV'
done
run diff --csv good.cap changed.cap
cp out csv
run diff --json good.cap changed.cap
cp out json
python3 same.py csv json || wrong 'JSON differs from CSV'
exit $bad
