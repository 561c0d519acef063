# engines/lib-many.sh - 50 machines (HOSTS): each is a network namespace with a host of Lark, GJS or
# Lua, which records itself (JSPROF_CONTINUOUS), and a jsprof push of its own. Sourced, not run.
#
# The test sets `kind` (of jsprof push --to) and `address` (of the engine), and defines
#   engine          begin it
#   has_of VIA      print a table of what it has got from the pushes VIA, live or stored: PID VM
#                   FUNCTION NANOSECONDS, "label KEY=VALUE ...", "distinct N": profiles
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/engines/lib.sh"
hosts=${HOSTS:-50}
windows=3
kind= # the test's
bridge=10.213.0.1
net=jp$$
all=$(seq "$hosts")

needs_namespaces()
{
    ip netns add $net-0 2>/dev/null && ip netns del $net-0 ||
        { echo 'SKIP: needs network namespaces, which a container may forbid'; exit 77; }
    trap clean EXIT
    trap 'exit 1' HUP INT TERM
    ip link add $net type bridge
    ip addr add $bridge/16 dev $net
    ip link set $net up
}

clean()
{
    kill $pids 2>/dev/null || :
    for i in $all; do
        ip netns pids $net-$i 2>/dev/null | xargs -r kill -KILL 2>/dev/null || :
        ip netns del $net-$i 2>/dev/null || :
    done
    ip link del $net 2>/dev/null || :
    rm -rf "$tmp"
}

# The same program three times: 8 : 16 : 32, in turns of 10 ms, twice a second, so that 50 of them
# have room on two processors.
cat >shares.js <<'END_OF_PROGRAM'
const {GLib} = imports.gi;
function burn(n) { let x = 1; for (let i = 0; i < n; i++) x = (x * 31 + i) & 0xffff; return x; }
function leastwork(n) { return burn(8 * n); }
function middlework(n) { return burn(16 * n); }
function mostwork(n) { return burn(32 * n); }
let sum = 0, most = 0; // cycles within 10 ms, of which others may have taken a part
for (;;) {
    const until = GLib.get_monotonic_time() + 10000;
    let cycles = 0;
    for (; cycles < most || GLib.get_monotonic_time() < until; cycles++)
        sum += leastwork(300) + middlework(300) + mostwork(300);
    most = cycles;
    GLib.usleep(490000);
}
END_OF_PROGRAM
cat >shares.lua <<'END_OF_PROGRAM'
local function burn(n) local x = 1 for i = 1, n do x = (x * 31 + i) % 65536 end return x end
local function leastwork(n) local x = burn(8 * n) return x end
local function middlework(n) local x = burn(16 * n) return x end
local function mostwork(n) local x = burn(32 * n) return x end
while io.read() do -- a line each 500 ms
  local till = os.clock() + 0.01
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
    let till = clock() + 0.01;
    while clock() < till { leastwork(100); middlework(100); mostwork(100); }
}
every(500, turn);
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
    time.sleep(0.5)
END_OF_PACE
machine() # NUMBER COMMAND...: its host
{
    i=$1
    shift
    mkdir -m 700 $i $i/first $i/rest $i/first.made $i/rest.made
    ip netns add $net-$i
    ip link add $net.$i type veth peer name eth0 netns $net-$i
    ip link set $net.$i master $net up
    ip -n $net-$i addr add 10.213.1.$i/16 dev eth0
    ip -n $net-$i link set eth0 up
    input=/dev/null
    [ -p $i.pace ] && input=$i.pace
    XDG_RUNTIME_DIR=$tmp/$i JSPROF_CONTROL=1 JSPROF_CONTINUOUS=$tmp/$i/stored JSPROF_HZ=100 \
        JSPROF_SEGMENT=2s JSPROF_KEEP=4m ip netns exec $net-$i "$@" <"$input" >$i/out 2>&1 &
    echo $! >$i/pid
    pids="$pids $!"
}

begin_machines() # all listen when this returns
{
    paces=
    for i in $all; do
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
    for i in $all; do
        tries=0
        until XDG_RUNTIME_DIR=$tmp/$i "$jsprof" ps --csv | grep -q ',ready,[1-9]'; do
            tries=$((tries + 1))
            [ $tries -lt 600 ] || { cat $i/out; echo "host $i does not listen"; exit 1; }
            sleep 0.1
        done
    done
}

# What they have recorded themselves: the first file of each in I/first, others in I/rest. The
# profiles of these are in I/first.made and I/rest.made: a capture without samples has none. jsprof
# merge joins the captures of a host, and those of all; reports/ has what it says, by pid.
end_machines()
{
    for i in $all; do ls $i/stored | wc -l >$i/files; done
    for i in $all; do # two files later it has recorded itself for ten seconds since the windows
        tries=0
        until [ "$(ls $i/stored | wc -l)" -ge $(($(cat $i/files) + 2)) ]; do
            tries=$((tries + 1))
            [ $tries -lt 600 ] || { ls $i/stored; echo "host $i writes no files"; exit 1; }
            sleep 0.1
        done
    done
    for i in $all; do stop "$(cat $i/pid)"; done
    mkdir reports
    for i in $all; do
        pid=$(cat $i/pid)
        first=$(ls $i/stored | head -n 1)
        mv $i/stored/"$first" $i/first
        find $i/stored -size 0 -delete # a segment of it was not written yet
        mv $i/stored/*.cap $i/rest
        for part in first rest; do
            "$jsprof" push --from $i/$part --to folder $i/$part.made 2>>said
        done
        "$jsprof" merge -o $i/merged.cap $i/first/*.cap $i/rest/*.cap 2>>said
        "$jsprof" report --csv --by function $i/merged.cap >reports/"$pid.csv" 2>>said ||
            echo "$i has no samples" >>said
    done
    "$jsprof" merge -o merged.cap ./*/first/*.cap ./*/rest/*.cap 2>>said
    "$jsprof" report --csv --by function merged.cap >reports/all.csv 2>>said
}

push_all() # VIA OPTIONS...: of each machine, in its folder and in the background
{
    via=$1
    shift
    pushes=
    for i in $all; do
        labels=
        [ $kind != parca ] || labels="--label machine=$i --label via=$via"
        # shellcheck disable=SC2086
        (cd $i && XDG_RUNTIME_DIR=$tmp/$i exec ip netns exec $net-$i "$jsprof" push --to $kind \
            "http://$address" $labels --queue queue "$@" 2>pushed) &
        pushes="$pushes $!"
    done
}

# All of them end, and have lost nothing: $sent is how many profiles they have sent.
wait_pushes()
{
    ran='jsprof push'
    for push in $pushes; do wait "$push" || wrong "status $?"; done
    cat */pushed >out
    [ "$(grep -c ' 0 refused, 0 dropped, 0 wait$' out)" = "$hosts" ] || wrong 'not all was sent'
    sent=$(sed -n 's/.*; \([0-9]*\) sent.*/\1/p' out | awk '{ all += $1 } END { print all + 0 }')
}

# Windows of each host. The engine is away when the second ones end. What it has answered and not
# stored when it is killed is its own loss: less than a window of each host.
push_live()
{
    push_all live --windows $windows --seconds 6
    sleep 9
    murder
    sleep 5
    engine
    wait_pushes
    live=$sent
    echo "live: $sent profiles sent"
    [ "$sent" -ge $((hosts * (windows - 1))) ] || wrong "has not $windows profiles of each host"
}

is_made() # PART: what was sent of it is all that there is
{
    made=$(ls -d */"$1".made/* | wc -l)
    [ "$made" -gt 0 ] && [ "$sent" = "$made" ] || wrong "$sent of $made profiles"
}

distinct() { has_of "$1" >got && sed -n 's/^distinct //p' got; }

# The captures of each host, once the machines have ended. Here the engine has stored all when it is
# killed, so it must get each exactly once.
push_stored()
{
    push_all stored --from first
    wait_pushes
    is_made first
    first=$sent tries=0
    until [ "$(distinct stored)" = "$first" ]; do
        tries=$((tries + 1))
        [ $tries -lt 60 ] || { cp got out; wrong "the engine has not $first profiles"; break; }
        sleep 0.5
    done
    sleep 1 # a log of writes may come after the answer
    murder
    push_all stored --from rest
    tries=0
    until [ "$(ls */queue | grep -c push$)" = "$(ls -d */rest.made/* | wc -l)" ]; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { ls */queue >out; wrong 'not all of them wait'; break; }
        sleep 0.1
    done
    engine
    wait_pushes
    is_made rest
    echo "stored: $first profiles, and $sent after the engine was away"
    sent=$((first + sent))
}

compared() # HOW VIA: what the engine has and what jsprof merge has
{
    ran="many.py $1 $2"
    PYTHONPATH=$SRCDIR/tests/engines python3 -B "$SRCDIR/tests/engines/many.py" "$1" reports \
        <"$2.table" >out 2>err || wrong "differs from jsprof merge"
    tail -n 2 out
}

is_within() # VIA LEAST MOST: profiles, each counted once
{
    n=$(sed -n 's/^distinct //p' "$1.table")
    ran="the engine, $1"
    cp "$1.table" out
    echo "$1: the engine has $n profiles"
    [ "$n" -ge "$2" ] && [ "$n" -le "$3" ] || wrong "has $n profiles, not $2 to $3"
}
