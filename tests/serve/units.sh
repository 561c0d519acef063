#!/bin/sh
# serve/units.sh - the units of systemd: it takes them, they are hardened, and a socket that systemd
# passes is served, with the token of a file.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
for tool in systemd-analyze systemd-socket-activate python3; do
    command -v $tool >/dev/null || { echo "SKIP: needs $tool"; exit 77; }
done
mkdir units
cp "$SRCDIR"/packaging/systemd/jsprof-serve.* units
sed -i "s|/usr/bin/jsprof|$jsprof|" units/jsprof-serve.service

# analyze WORDS...: leaves $rc, and the files out and err.
analyze()
{
    rc=0
    ran="systemd-analyze $*"
    systemd-analyze "$@" >out 2>err || rc=$?
}

# It needs no running systemd. A warning of it is a line, which does not change its status.
analyze verify --user --man=no units/jsprof-serve.socket units/jsprof-serve.service
is_rc 0
! grep -F units/ out err || wrong 'complains'
# What is left of 10 is of capabilities and namespaces, which a user has none of.
analyze security --user --offline=true --no-pager --threshold=60 units/jsprof-serve.service
is_rc 0
has 'Overall exposure level'
# Both of these find a fault where there is one.
sed 's/^NoNewPrivileges.*/NoNewPrivileges=perhaps/; s/^\(Protect\|Restrict\|SystemCall\).*//' \
    units/jsprof-serve.service >units/loose.service
analyze verify --user --man=no units/loose.service
grep -qF 'loose.service:' err || wrong 'finds no fault'
analyze security --user --offline=true --no-pager --threshold=60 units/loose.service
[ "$rc" != 0 ] || wrong 'finds it hardened'

# The first request starts the server, which has the socket by then.
port=$(python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
echo 0123456789abcdef >token
systemd-socket-activate -l "127.0.0.1:$port" "$jsprof" serve --token-file token >served 2>&1 &
server=$!
pids="$pids $server"
ran='systemd-socket-activate jsprof serve'
python3 -B - "$port" >out 2>err <<'END_OF_PROGRAM' || wrong 'does not answer'
import sys
import time
import urllib.error
import urllib.request
url = "http://127.0.0.1:%s/debug/pprof/" % sys.argv[1]
end = time.monotonic() + 60
while True:
    try:
        print(urllib.request.urlopen(url + "?token=0123456789abcdef", timeout=60).read().decode())
        break
    except (ConnectionError, urllib.error.URLError) as error:
        if isinstance(error, urllib.error.HTTPError) or time.monotonic() > end:
            raise
        time.sleep(0.1) # it does not listen yet
try:
    urllib.request.urlopen(url, timeout=60)
except urllib.error.HTTPError as error:
    print("without a token:", error.code)
END_OF_PROGRAM
has /debug/pprof/profile
has 'without a token: 401'
grep -qF 'the socket that systemd passes' served || { cp served out; wrong 'has another socket'; }
stop $server
exit $bad
