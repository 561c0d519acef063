# engines/lib.sh - what the tests of real engines share; sourced, not run.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"

needs_python() { command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }; }

ports() # N: so many that are free
{
    python3 -c 'import socket, sys
all = [socket.socket() for i in range(int(sys.argv[1]))]
for s in all: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in all))' "$1"
}

lines_for() # NAME: the lines of docs/fleet.md after the paragraph that begins so
{
    awk -v name="$1" 'index($0, name) == 1 { on = 1 }
        on && /^    / { print substr($0, 5); seen = 1 }
        on && seen && !/^    / { exit }' "$SRCDIR/docs/fleet.md"
}

# begin NAME URL COMMAND...: as $engine; it answers URL, whatever it says, when this returns.
begin()
{
    name=$1 url=$2
    shift 2
    "$@" >>engine.log 2>&1 &
    engine=$!
    pids="$pids $engine"
    tries=0
    until python3 -c 'import sys, urllib.error, urllib.request
try:
    urllib.request.urlopen(sys.argv[1], timeout=9)
except urllib.error.HTTPError as error:
    sys.exit(error.code >= 500)' "$url" 2>/dev/null; do
        kill -0 $engine 2>/dev/null || { cat engine.log; echo "$name has ended"; exit 1; }
        tries=$((tries + 1))
        [ $tries -lt 1200 ] || { cat engine.log; echo "$name does not answer"; exit 1; }
        sleep 0.1
    done
}

# The collector, with the lines of docs/fleet.md, where it listens and writes here.
begin_collector() # ADDRESS:PORT
{
    {
        lines_for 'The OpenTelemetry collector' |
            sed "s|127.0.0.1:4318|$1|; s|/var/tmp/profiles.json|$tmp/profiles.json|"
        echo '  telemetry: {metrics: {level: none}}' # of service
    } >collector.yaml
    ran='the lines of docs/fleet.md'
    cp collector.yaml out
    has "$1"
    has "$tmp/profiles.json"
    begin 'the collector' "http://$1/" "$collector" --config "file:$tmp/collector.yaml" \
        --feature-gates=service.profilesSupport
}

# Parca keeps what it gets in files, so that it has them after it was killed.
keep_in_files()
{
    storage="object_storage: {bucket: {type: FILESYSTEM, config: {directory: $tmp/objects}}}"
    echo "$storage" >parca.yaml
}

begin_parca() # ADDRESS:PORT
{
    begin Parca "http://$1/metrics" \
        "$parca" --config-path="$tmp/parca.yaml" --http-address="$1" \
        --log-level=warn --enable-persistence --storage-enable-wal \
        --storage-path="$tmp/stored" --debuginfo-cache-dir="$tmp/cache" \
        --debuginfod-upstream-servers=http://127.0.0.1:9
}

halt() # the engine, which ends by itself
{
    kill $engine
    wait $engine || :
}

murder() # the engine
{
    kill -KILL $engine
    wait $engine 2>/dev/null || :
}

is_sent() # FILE WINDOWS: what jsprof push has said of them
{
    ran='jsprof push'
    grep -Eq " $2 windows, .* [1-9][0-9]* sent, 0 refused, 0 dropped, 0 wait" "$1" ||
        { cp "$1" out; wrong 'not all was sent'; }
}
