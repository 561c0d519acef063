#!/bin/sh
# engines/many.sh - 50 machines (HOSTS), each a network namespace with a host of Lark, GJS or Lua
# and a jsprof push of its own, feed an OpenTelemetry collector. It is killed meanwhile and started
# again. Each host has its shares, all have those of `jsprof merge`, and labels arrive.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
collector=$B/engines/otelcol
hosts=${HOSTS:-50}
windows=3
[ -x "$collector" ] || { echo 'SKIP: needs make deps-engines'; exit 77; }
needs_python
net=jp$$
ip netns add $net-0 2>/dev/null && ip netns del $net-0 ||
    { echo 'SKIP: needs network namespaces, which a container may forbid'; exit 77; }
clean()
{
    kill $pids 2>/dev/null || :
    for i in $(seq "$hosts"); do
        ip netns pids $net-$i 2>/dev/null | xargs -r kill -KILL 2>/dev/null || :
        ip netns del $net-$i 2>/dev/null || :
    done
    ip link del $net 2>/dev/null || :
    rm -rf "$tmp"
}
trap clean EXIT
trap 'exit 1' HUP INT TERM
ip link add $net type bridge
ip addr add 10.213.0.1/16 dev $net
ip link set $net up

# The same program three times: 8 : 16 : 32, in turns of 2 ms, ten times a second, so that 50 of
# them have room on two processors.
cat >shares.js <<'END_OF_PROGRAM'
const {GLib} = imports.gi;
function burn(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) & 0xffff; return x; }
function leastwork(n) { return burn(8 * n); }
function middlework(n) { return burn(16 * n); }
function mostwork(n) { return burn(32 * n); }
let sum = 0, most = 0; // cycles within 2 ms, of which others may have taken a part
for (;;) {
    const until = GLib.get_monotonic_time() + 2000;
    let cycles = 0;
    for (; cycles < most || GLib.get_monotonic_time() < until; cycles++)
        sum += leastwork(300) + middlework(300) + mostwork(300);
    most = cycles;
    GLib.usleep(98000);
}
END_OF_PROGRAM
cat >shares.lua <<'END_OF_PROGRAM'
local function burn(n) local x = 1 for i = 1, n do x = (x * 31 + i) % 65536 end return x end
local function leastwork(n) local x = burn(8 * n) return x end
local function middlework(n) local x = burn(16 * n) return x end
local function mostwork(n) local x = burn(32 * n) return x end
while io.read() do -- a line each 100 ms
  local till = os.clock() + 0.002
  repeat leastwork(100) middlework(100) mostwork(100) until os.clock() >= till
end
END_OF_PROGRAM
cat >shares.lark <<'END_OF_PROGRAM'
fn burn(n) {
    let x = 1;
    for i = 0, n { x = (x * 31 + i) & 0xffff; }
    return x;
}
fn leastwork(n) { return burn(8 * n); }
fn middlework(n) { return burn(16 * n); }
fn mostwork(n) { return burn(32 * n); }
fn turn() {
    label("route", "/shares");
    let till = clock() + 0.002;
    while clock() < till { leastwork(100); middlework(100); mostwork(100); }
}
every(100, turn);
END_OF_PROGRAM
cat >pace.py <<'END_OF_PACE'
import sys, time
pipes = [open(path, 'w') for path in sys.argv[1:]]
while pipes:
    for pipe in list(pipes):
        try:
            print(file=pipe, flush=True)
        except BrokenPipeError:
            pipes.remove(pipe)
    time.sleep(0.1)
END_OF_PACE
machine() # NUMBER COMMAND...: its host
{
    i=$1
    shift
    mkdir -m 700 "$tmp/$i"
    ip netns add $net-$i
    ip link add $net.$i type veth peer name eth0 netns $net-$i
    ip link set $net.$i master $net up
    ip -n $net-$i addr add 10.213.1.$i/16 dev eth0
    ip -n $net-$i link set eth0 up
    input=/dev/null
    [ -p "$tmp/$i.pace" ] && input=$tmp/$i.pace
    XDG_RUNTIME_DIR=$tmp/$i JSPROF_CONTROL=1 ip netns exec $net-$i "$@" <"$input" \
        >"$tmp/$i/out" 2>&1 &
    pids="$pids $!"
}
touch err
begin_collector 10.213.0.1:4318
paces=
for i in $(seq "$hosts"); do
    case $((i % 3)) in
    1) program=$B/bin/gjs-console words=shares.js ;;
    2) program=$B/bin/jsprof-lua5.4 words=shares.lua ;;
    *) program=$B/bin/lark words=shares.lark ;;
    esac
    [ -x "$program" ] || program=$B/bin/lark words=shares.lark
    if [ $words = shares.lua ]; then
        mkfifo $i.pace
        paces="$paces $i.pace"
    fi
    machine $i "$program" $words
done
# shellcheck disable=SC2086
[ -z "$paces" ] || python3 -B pace.py $paces & pids="$pids $!"
for i in $(seq "$hosts"); do
    tries=0
    until XDG_RUNTIME_DIR=$tmp/$i "$jsprof" ps --csv | grep -q ',ready,[1-9]'; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { cat "$tmp/$i/out"; echo "host $i does not listen"; exit 1; }
        sleep 0.1
    done
done
pushes=
for i in $(seq "$hosts"); do
    XDG_RUNTIME_DIR=$tmp/$i ip netns exec $net-$i "$jsprof" push --to otlp http://10.213.0.1:4318 \
        --queue "$tmp/$i/queue" --windows $windows --seconds 6 2>"$tmp/$i/pushed" &
    pushes="$pushes $!"
done
sleep 9
murder
sleep 2
begin_collector 10.213.0.1:4318
for push in $pushes; do wait "$push" || { ran='jsprof push'; wrong "status $?"; }; done
cat "$tmp"/*/pushed >out
ran='jsprof push'
[ "$(grep -c " $windows windows, .* 0 refused, 0 dropped, 0 wait" out)" = "$hosts" ] ||
    wrong 'not all was sent'

# What jsprof itself sees of the same hosts, a little later: one command at a time may record one.
for i in $(seq "$hosts"); do
    pid=$(XDG_RUNTIME_DIR=$tmp/$i "$jsprof" ps --csv | sed -n 's/^\([0-9]*\),.*/\1/p')
    XDG_RUNTIME_DIR=$tmp/$i "$jsprof" record --hz 100 --seconds 6 --quiet -o $i.cap "$pid" 2>>err &
    pushes="$pushes $!"
done
for push in $pushes; do wait "$push" 2>/dev/null || :; done
halt
run merge -o merged.cap ./*.cap
is_rc 0
"$jsprof" report --csv --by function merged.cap >merged.csv 2>err || wrong 'has no report'

python3 -B "$SRCDIR/tests/engines/collector.py" profiles.json >out
ran='the collector'
# What it had taken and not written when it was killed is its loss; what it did not answer comes
# twice.
awk -v most=$((hosts * windows)) '
    $1 == "profiles" { exit !($2 >= most / 2 && $2 <= 1.5 * most) }' out || wrong 'lacks requests'
[ "$(awk '/work/ { print $1 }' out | sort -u | wc -l)" = "$hosts" ] || wrong 'has not all processes'
grep -q '^label route=/shares [1-9]' out || wrong 'has no label'
python3 -B - out merged.csv <<'END_OF_CHECK' || wrong 'has other shares'
import collections
import csv
import math
import sys
NAMES = {'leastwork': 8 / 56, 'middlework': 16 / 56, 'mostwork': 32 / 56}
got = collections.defaultdict(collections.Counter)
for line in open(sys.argv[1]):
    word = line.split()
    if word[2:3] and word[2] in NAMES:
        got[word[0]][word[2]] += int(word[3])
        got['all'][word[2]] += int(word[3])
merged, bad = collections.Counter(), 0
for row in csv.DictReader(open(sys.argv[2])):
    text = next(v for k, v in row.items() if k in ('name', 'function'))
    name = text.split()[0] if text.split() else ''
    if name in NAMES:
        key = 'total' if 'total' in row else next(k for k in row if k.startswith('total'))
        merged[name] += float(row[key])
print('merged', {n: round(v / sum(merged.values()), 4) for n, v in merged.items()})
for who, of in sorted(got.items()):
    samples = sum(of.values()) / 1e7  # 100 a second
    for name, want in NAMES.items():
        share = of[name] / sum(of.values())
        if who == 'all':
            want = merged[name] / sum(merged.values())
            print('all', name, round(share, 4), 'merged', round(want, 4))
        # 4.5 deviations of chance, of two samplings; 1.5 %: the time before the JIT has compiled it
        may = 4.5 * math.sqrt(2 * want * (1 - want) / samples) + 0.015
        if abs(share - want) > may:
            print(who, name, share, want, may)
            bad = 1
print(len(got) - 1, 'hosts,', int(sum(got['all'].values()) / 1e7), 'samples')
sys.exit(bad)
END_OF_CHECK
exit $bad
