#!/bin/sh
# serve/places.sh - where processes listen: folders that others have prepared are not used and are
# named, long and missing folders, and processes of two containers that have one number.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
unshare --user --map-root-user --pid --mount --fork true 2>/dev/null ||
    { echo 'SKIP: needs namespaces, which a container may forbid'; exit 77; }
lark="$B/bin/lark"
echo 'print(1);' >one.lark
printf 'let i = 0;\nwhile 1 < 2 { i = i + 1; }\n' >spin.lark

# -- A folder below /tmp that another user has prepared: nothing is written there -----------------

# alone COMMAND...: with the folder `private` as /tmp, and no runtime folder. Programs are copied
# there: the sources may be below /tmp, too.
alone()
{
    cp "$lark" "$B/bin/minimal" private
    rc=0
    ran="$*, with $kind as the folder"
    unshare --user --map-root-user --mount --fork sh -c '
        exec 3<one.lark && mount --bind private /tmp && unset XDG_RUNTIME_DIR && exec "$@" <&3' \
        sh "$@" >out 2>err || rc=$?
    rm -rf private
}

why='control socket: /tmp/jsprof-0: the folder belongs to another user, others may enter it, or it'
for kind in link file open dangling; do
    mkdir -p private elsewhere
    case $kind in
    link) ln -s "$tmp/elsewhere" private/jsprof-0 ;;
    dangling) ln -s "$tmp/nowhere" private/jsprof-0 ;;
    file) : >private/jsprof-0 ;;
    open) mkdir -m 755 private/jsprof-0 ;;
    esac
    alone /tmp/lark --profile-control /dev/fd/0
    says "$why"
    [ -z "$(ls elsewhere)" ] && [ ! -e nowhere ] || wrong 'has used what the link leads to'
done

# A host that obeys the environment says the same, and goes on.
for also in A=B JSPROF=/dev/null; do
    mkdir private
    : >private/jsprof-0
    alone env $also JSPROF_CONTROL=1 /tmp/minimal
    is_rc 0
    says "$why"
done

# -- Long and missing folders ---------------------------------------------------------------------

name=$(printf '%060d' 0)
for runtime in "$tmp/$name/$name" "$tmp/$name/$name/$name" "$tmp/missing"; do
    case $runtime in *missing) ;; *) mkdir -p "$runtime" && chmod 700 "$runtime" ;; esac
    XDG_RUNTIME_DIR=$runtime
    start "$lark" --profile-control spin.lark
    run record --seconds 0.3 -o long.cap $pid
    is_rc 0
    is_whole long.cap
    stop $pid
done
XDG_RUNTIME_DIR="$tmp/run"

# -- Two containers that share the folder ---------------------------------------------------------

# unshare ignores other signals, and so does the first process of a namespace.
killed=
trap 'kill $pids 2>/dev/null || :; kill -KILL $killed 2>/dev/null || :; rm -rf "$tmp"' EXIT
contained() # COMMAND...: as process 1 of a container
{
    exec unshare --user --map-root-user --pid --mount --fork --kill-child --mount-proc "$@"
}
(contained "$lark" --profile-control spin.lark) & killed="$killed $!"
tries=0
until (contained "$jsprof" ps --csv) | grep -q '^1,[0-9]*,ready,[1-9]'; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo 'it does not listen'; exit 1; }
    sleep 0.1
done
(contained "$jsprof" record --seconds 0.3 -o one.cap 1) >out 2>err || { ran=record; wrong fails; }
is_whole one.cap
(contained "$lark" --profile-control spin.lark) & killed="$killed $!"
until [ "$( (contained "$jsprof" ps --csv) | grep -c '^1,[0-9]*,ready,[1-9]')" = 2 ]; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || { echo 'the second one does not listen'; exit 1; }
    sleep 0.1
done
for command in 'record --seconds 0.3 -o two.cap' dump 'calls --on'; do
    rc=0
    # shellcheck disable=SC2086
    (contained "$jsprof" $command 1) >out 2>err || rc=$?
    ran="jsprof $command 1, where two have this number"
    is_rc 1
    says 'several processes have the number 1, each in another container'
done
exit $bad
