# lib.sh - what the tests of running processes share; sourced, not run.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null || :; rm -rf "$tmp"' EXIT
jsprof="$B/bin/jsprof"
bad=0
unset COLUMNS NO_COLOR JSPROF JSPROF_CONTROL
export LC_ALL=C.UTF-8
export XDG_RUNTIME_DIR="$tmp/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"
cd "$tmp"

# start COMMAND...: in the background, as $pid; it listens when this returns.
start()
{
    "$@" >host.out 2>host.err &
    pid=$!
    pids="$pids $pid"
    tries=0
    until "$jsprof" ps --csv | grep -q "^$pid,[0-9]*,ready,[1-9]"; do
        kill -0 $pid 2>/dev/null || { echo "$*: has ended"; cat host.err; exit 1; }
        tries=$((tries + 1))
        [ $tries -lt 600 ] || { echo "$*: does not listen"; exit 1; }
        sleep 0.1
    done
}

# Write spin.lark, a program of one function that has all of the time, until it is killed.
spin_lark() # [WHAT ITS LOOP DOES]
{
    cat >spin.lark <<END_OF_PROGRAM
fn spin(n) {
    let i = 0;
    while i < n { i = i + 1; }
    return i;
}
while 1 < 2 { ${1:-spin(1000000);} }
END_OF_PROGRAM
}

# Write spin.lark, a program of the same function that needs a fifth of a processor, for tests that
# wait longer than they measure.
spin_and_rest_lark()
{
    cat >spin.lark <<'END_OF_PROGRAM'
fn spin(n) { let i = 0; while i < n { i = i + 1; } return i; }
fn turn() { let end = clock() + 0.002; while clock() < end { spin(10000); } }
every(10, turn);
END_OF_PROGRAM
}

stop() # PID
{
    kill "$1" 2>/dev/null || :
    wait "$1" 2>/dev/null || :
}

# run ARGUMENTS...: leaves $rc, and the files out and err.
run()
{
    rc=0
    "$jsprof" "$@" >out 2>err || rc=$?
    ran="jsprof $*"
}

wrong() # WHAT
{
    echo "$ran: $1"
    sed 's/^/  out: /' out | head -30
    sed 's/^/  err: /' err | head -30
    bad=1
}

is_rc() { [ "$rc" = "$1" ] || wrong "exit status $rc, not $1"; }
has() { grep -qF -- "$1" out || wrong "does not say: $1"; }
says() { grep -qF -- "$1" err || wrong "does not complain: $1"; }

# A capture has samples, and its account adds up.
is_whole() # CAPTURE
{
    run info "$1"
    is_rc 0
    has 'adds up, and the file holds them all'
}
