#!/bin/sh
# serve/stored.sh - jsprof push --from FOLDER: the captures that a process has written in continuous
# mode, each once, with their labels; not the one that is being written.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
spin_lark 'label("route", "/login"); spin(100000);'

# A file a second, until there are three of them; the last one is being written.
JSPROF_CONTINUOUS=folder JSPROF_SEGMENT=1s JSPROF_KEEP=24s JSPROF_HZ=1000 "$B/bin/lark" spin.lark &
pid=$!
pids="$pids $pid"
tries=0
until [ "$(ls folder 2>/dev/null | wc -l)" -ge 4 ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo 'no four files'; exit 1; }
    sleep 0.1
done
kill -STOP $pid
echo 'not a capture' >folder/notes.cap
echo 'not a capture' >folder/lark-1-1-000001.cap
mkdir out.d
complete=$(($(ls folder/lark-$pid-*.cap | wc -l) - 1))
set -- $(ls folder/lark-$pid-*.cap)
run report --by label --csv "$1"
has '"route=/login"'

run push --from folder --to folder out.d
[ "$(ls out.d/lark-$pid-*.pb.gz | wc -l)" = $complete ] ||
    { ls -l folder out.d >out; wrong "not $complete profiles"; }
for f in out.d/*; do
    python3 -B -c '
import gzip, sys
text = gzip.open(sys.argv[1]).read()
sys.exit(not all(word in text for word in (b"route", b"/login", b"spin")))' "$f" ||
        { ran="$f"; wrong 'has no labels'; }
done
[ "$(ls folder/lark-$pid-*.cap | wc -l)" = $((complete + 1)) ] || wrong 'removes files'

# With --remove each is gone when its profile is there. A killed process writes its last one no
# more, and may leave one without a byte.
kill -KILL $pid
wait $pid 2>/dev/null || :
: >folder/lark-$pid-1-000999.cap
rm -f folder/lark-1-1-000001.cap
rm -rf out.d && mkdir out.d
run push --from folder --remove --to folder out.d
is_rc 0
[ "$(ls out.d/lark-$pid-*.pb.gz | wc -l)" -ge $complete ] || { ls -l out.d >out; wrong 'too few'; }
[ "$(ls folder)" = notes.cap ] || { ls -l folder >out; wrong 'leaves files'; }
run push --from folder --to folder out.d
is_rc 0
says '0 profiles of 0 captures'

# An engine gets them in its form, with the time of each capture.
run push --from missing --to folder out.d
is_rc 1
says 'missing: No such file'
run push --from folder/notes.cap --to folder out.d
is_rc 1
says 'folder/notes.cap: Not a directory'

# The folder for profiles is made; where that is not possible, nothing is recorded first.
run push --from folder --to folder made
[ -d made ] || wrong 'makes no folder'
run push --to folder missing/made
is_rc 1
[ "$(cat err)" = 'jsprof: missing/made: No such file or directory' ] || wrong 'says more or less'
run push --to folder folder/notes.cap
is_rc 1
[ "$(cat err)" = 'jsprof: folder/notes.cap: Not a directory' ] || wrong 'says more or less'

# A folder or a capture that this user may not read is named, and nothing is removed. The user who
# may read everything becomes another one for it.
as()
{
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}
cp "$jsprof" jsprof.own
chmod 755 . jsprof.own
mkdir -m 777 out.u
mkdir -m 755 unread
: >unread/lark-1-1-000001.cap
chmod 0 unread/lark-1-1-000001.cap
if as ./jsprof.own --version >/dev/null 2>&1; then
    user()
    {
        rc=0
        HOME=$tmp as ./jsprof.own "$@" >out 2>err || rc=$?
        ran="jsprof $* (as another user)"
    }
    user push --from unread --remove --queue out.u/queue --to folder out.u
    is_rc 1
    says 'unread/lark-1-1-000001.cap: Permission denied'
    [ -e unread/lark-1-1-000001.cap ] || wrong 'removes what it can not read'
    chmod 0 unread
    user push --from unread --queue out.u/queue --to folder out.u
    is_rc 1
    says 'unread: Permission denied'
    chmod 755 unread
else
    echo 'no other user can run the command: not tried'
fi
run push --remove --to folder out.d
is_rc 2
exit $bad
