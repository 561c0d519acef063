#!/bin/sh
# browser/view.sh - jsprof view serves its viewer alone, and ends when it gets a signal.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/node/lib.sh"
need @firefox-devtools/profiler-cli
. "$SRCDIR/tests/export/lib.sh"
. "$SRCDIR/tests/browser/lib_firefox.sh"
trap 'profiler stop --all >/dev/null 2>&1; [ -z "$server" ] || kill "$server"; rm -rf "$tmp"' EXIT
server=

view() # ARGUMENTS...: in the background; leaves $server, $link, $url, $port
{
    ran="jsprof view $*"
    mkfifo links 2>/dev/null || true
    "$jsprof" view "$@" >links 2>err &
    server=$!
    read -r link <links
    url=$(echo "${link##*/from-url/}" | sed 's/%3A/:/g; s|%2F|/|g')
    port=${url#http://127.0.0.1:}
    port=${port%%/*}
}

ended() # STATUS
{
    rc=0
    wait "$server" || rc=$?
    : >out
    is_rc "$1"
    server=
}

# ask METHOD URL [HOST]: status and headers in out, the body in body
ask()
{
    ran="$1 $2 as ${3:-itself}"
    "$node" -e '
        const [method, url, host] = process.argv.slice(1);
        const request = require("http").request(url, { method,
            headers: host ? { Host: host } : {} }, (answer) => {
            console.log(answer.statusCode, JSON.stringify(answer.headers));
            answer.pipe(require("fs").createWriteStream("body"));
        });
        request.end();' "$@" >out
}

view every.cap
case $link in
https://profiler.firefox.com/from-url/http%3A%2F%2F127.0.0.1%3A[0-9]*%2Fjsprof.json) ;;
*) wrong "prints $link" ;;
esac
ask GET "$url"
has '200 {'
has '"access-control-allow-origin":"https://profiler.firefox.com"'
convert firefox every file
cmp body file >out || wrong 'serves another profile than convert writes'
ask HEAD "$url"
has "\"content-length\":\"$(wc -c <file)\""
ask OPTIONS "$url"
has '"access-control-allow-private-network":"true"'
for other in "http://127.0.0.1:$port/" "http://127.0.0.1:$port/jsprof.json" "$url/" "${url}x"; do
    ask GET "$other"
    has '404 {'
done
ask POST "$url"
has '404 {'
# A page elsewhere whose name points to this machine does not get it.
for host in "evil.example:$port" "127.0.0.1.evil.example:$port" evil.example; do
    ask GET "$url" "$host"
    has '403 {'
done
# It can not be reached but by this machine's own address.
awk -v port="$(printf '%04X' "$port")" '$2 ~ ":" port "$" && $4 == "0A" { print $2 }' \
    /proc/net/tcp >out
ran='listening'
[ "$(cat out)" = "0100007F:$(printf '%04X' "$port")" ] || wrong 'listens elsewhere too'

# Silent connections, more than it keeps, do not delay the viewer: the oldest ones make place. Where
# they did not, it would close all that it keeps, after a while, before it answers.
ran='GET beside 40 silent connections'
"$node" -e '
    const [url, port] = process.argv.slice(1), net = require("net");
    let open = 0, closed = 0;
    for (let i = 0; i < 40; i++)
        net.connect(port, "127.0.0.1", () => { if (++open === 40) ask(); })
            .on("error", () => 0).on("close", () => closed++).resume();
    function ask() {
        require("http").get(url, (answer) => {
            answer.resume();
            answer.on("end", () => {
                console.log(answer.statusCode, closed, closed < 20 ? "soon" : "late");
                process.exit(0);
            });
        });
    }' "$url" "$port" >out
has '200 '
has ' soon'

# The real viewer, from the link's address.
profiler_load "$url" >out 2>err || wrong 'the viewer does not load it'
profiler thread functions --thread t-0 --limit 0 >out
has 'work - self: 30ms'
kill -INT "$server"
ended 0

view --once --viewer http://localhost:4242/ --thread helper every.cap
case $link in
http://localhost:4242/from-url/http%3A%2F%2F127.0.0.1*) ;;
*) wrong "prints $link" ;;
esac
ask GET "$url"
has '"access-control-allow-origin":"http://localhost:4242"'
ended 0
grep -q '"name":"helper"' body || wrong 'serves not what was chosen'

run view --port 70000 every.cap
is_rc 2
run view --viewer gopher://x every.cap
is_rc 2
is_err 'jsprof view: --viewer wants an address, not "gopher://x" (try: jsprof view --help)'
run view empty.cap
is_rc 1
is_err 'jsprof: empty.cap: no samples in this capture'
exit $bad
