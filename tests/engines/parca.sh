#!/bin/sh
# engines/parca.sh - Parca's server takes what jsprof push sends and scrapes jsprof serve, with the
# lines of docs/fleet.md. Its own API is asked: labels are those of the processes, and the shares of
# each and of all are those of jsprof merge. Killed and started again, it gets what waited.
#
# It is of PARCA, or build/engines/parca.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
parca=${PARCA:-$B/engines/parca}
[ -x "$parca" ] || { echo 'SKIP: needs make deps-engines, or PARCA=FILE'; exit 77; }
needs_python
port=$(ports 1)
keep_in_files

engine() { begin_parca "127.0.0.1:$port"; }

asked() # LABELS PROCESSES: what it has by its own API
{
    ran="parca.py $1"
    # shellcheck disable=SC2086
    PYTHONPATH=$SRCDIR/tests/engines python3 -B "$SRCDIR/tests/engines/parca.py" shares \
        "http://127.0.0.1:$port" merged.csv "$1" $2 >out 2>err ||
        { tail -n 20 engine.log >>err; wrong 'has other shares'; }
    cat out
}

touch err
engine
hosts=
for i in 1 2 3; do
    start "$B/bin/lark" --profile-control "$SRCDIR/examples/lark/programs/shares.lark" 100000
    hosts="$hosts $pid"
done
"$jsprof" push --to parca "http://127.0.0.1:$port" --label env=test --queue queue --windows 6 \
    --seconds 2 >pushed 2>&1 &
push=$!
sleep 5
murder
sleep 2
engine
wait $push || { cp pushed out; ran='jsprof push'; wrong "status $?"; }
is_sent pushed 6

# The same processes right after, since one command at a time records a process.
for i in $hosts; do
    "$jsprof" record --hz 100 --seconds 6 --quiet -o "$i.cap" "$i" 2>>err
done
run merge -o merged.cap ./*.cap
is_rc 0
"$jsprof" report --csv --by function merged.cap >merged.csv 2>err || wrong 'has no report'
asked 'env="test",job="lark"' "$hosts"

# Its scraper asks jsprof serve. It keeps the labels of a target, and not those of samples: the
# profile is of all processes.
halt
token=$(head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n')
echo "$token" >token
"$jsprof" serve --listen 127.0.0.1:0 --token-file token >served 2>err &
pids="$pids $!"
until grep -q http served; do sleep 0.05; done
address=$(sed -n 's|^jsprof serves http://\([^/]*\)/.*|\1|p' served)
{
    echo "$storage"
    lines_for Parca: | sed "s/TOKEN/$token/; s/127.0.0.1:4680/$address/; s/: 10s/: 3s/"
} >parca.yaml
cp parca.yaml out
ran='the lines of docs/fleet.md'
has "$token"
has "$address"
engine
asked 'job="jsprof"' ''
halt
exit $bad
