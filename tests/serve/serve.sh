#!/bin/sh
# serve/serve.sh - jsprof serve: profiles of several hosts over HTTP, with labels; who may ask; slow
# and silent clients; hosts that hang or are busy; a client that goes away.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
lark="$B/bin/lark"

for name in spin turn; do
    cat >$name.lark <<END_OF_PROGRAM
fn $name(n) {
    let i = 0;
    while i < n { i = i + 1; }
    return i;
}
label("route", "/of-$name");
while 1 < 2 { $name(1000000); }
END_OF_PROGRAM
done
start "$lark" --profile-control spin.lark
spin=$pid
start "$lark" --profile-control turn.lark
turn=$pid
start "$B/tests/fault/listen_host" sleep 1
python3 -B "$SRCDIR/tests/serve/serve.py" "$jsprof" $spin $turn $pid || exit 1

# go tool pprof asks by itself.
"$jsprof" serve --listen 127.0.0.1:0 --no-token >served 2>err &
pids="$pids $!"
until grep -q http served; do sleep 0.05; done
url=$(sed -n 's/^jsprof serves //p' served)
if command -v go >/dev/null; then
    GOCACHE=$(go env GOCACHE) HOME=$tmp PPROF_TMPDIR=$tmp \
        go tool pprof -raw "${url}profile?seconds=1" >out 2>err || wrong 'go tool pprof fails'
    ran="go tool pprof ${url}profile"
    has 'spin (spin.lark:1)'
    has 'turn (turn.lark:1)'
    has "pid:[$spin]"
    has "pid:[$turn]"
    has 'host:[lark]'
    has 'vm:[Lark '
elif [ "${STRICT:-}" ]; then
    echo 'needs golang-go'
    exit 1
fi

# Wrong words.
for words in '--listen 127.0.0.1' '--listen nowhere:1' '--listen 127.0.0.1:99999' 'file' \
    '--listen 0.0.0.0:0' '--listen 0.0.0.0:0 --host a --no-token' '--unix a --listen 127.0.0.1:0' \
    '--no-token --token-file a'; do
    # shellcheck disable=SC2086
    run serve $words
    is_rc 2
done
run serve --token-file missing --listen 127.0.0.1:0
is_rc 1
says 'missing'
echo short >short
run serve --token-file short --listen 127.0.0.1:0
is_rc 1
says 'less than 8 bytes'
printf '%0128d\n' 7 >long
run serve --token-file long --listen 127.0.0.1:0
is_rc 1
says 'more than 127 bytes'
exit $bad
