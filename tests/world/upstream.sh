#!/bin/sh
# upstream.sh - gjs's own tests, which its distribution packages: each, recorded, has the
# results and the status that it has with the stock programs. Its scripts run our gjs-console,
# its programs run under jsprof-gjs.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/mozjs/lib.sh"
suite=/usr/share/installed-tests/gjs
# shellcheck disable=SC2144
if ! [ -e $suite/testLang.test ] || ! command -v dbus-run-session >/dev/null; then
    echo 'SKIP: needs gjs-tests dbus'
    exit 77
fi

# With a session bus and, where there is one, a display of its own.
if [ -z "${UPSTREAM_INSIDE:-}" ]; then
    export UPSTREAM_INSIDE=yes
    if command -v xvfb-run >/dev/null; then
        exec xvfb-run -a dbus-run-session -- sh "$0"
    fi
    exec dbus-run-session -- sh "$0"
fi

# Leave NAME.KIND: what the test reported, without numbers, and its status. The order is
# chance. The three checks of gjs's own profiler fail: it can not record what we record.
run() # KIND NAME COMMAND...
{
    run_to=$SCRATCH/$2.$1
    run_kind=$1
    shift 2
    rm -rf "$SCRATCH/work"
    mkdir "$SCRATCH/work"
    (
        cd "$SCRATCH/work" || exit 1
        if [ "$run_kind" = ours ]; then
            case $1 in
            */minijasmine) set -- "$B/bin/jsprof-gjs" --profile-output="$SCRATCH/%p.cap" -- "$@" ;;
            *) PATH=$B/bin:$PATH JSPROF=$SCRATCH/%p.cap && export PATH JSPROF ;;
            esac
        fi
        exec timeout -k 1 60 "$@"
    ) >"$run_to.out" 2>"$run_to.err"
    run_rc=$?
    {
        sed -En 's/^((not )?ok|#?1\.\.) *[0-9]* */\1 /p' "$run_to.out" | grep -vi 'profil' | sort
        echo "status $run_rc"
    } >"$run_to"
}

# Some of these tests depend on times, and may differ on a busy machine.
as_stock() # NAME COMMAND...
{
    run stock "$@"
    run ours "$@"
    diff "$SCRATCH/$1.stock" "$SCRATCH/$1.ours" && return
    tail -n 5 "$SCRATCH/$1.ours.err"
    return 1
}

n=0
for file in "$suite"/*.test; do
    name=${file##*/}
    # shellcheck disable=SC2046
    set -- $(sed -n 's/^Exec=//p' "$file")
    check "$name: as with the stock program" as_stock "${name%.test}" "$@"
    n=$((n + $(grep -c '^ok' "$SCRATCH/${name%.test}.ours")))
done
echo "$n of gjs's own checks passed, in $(find "$SCRATCH" -name '*.cap' | wc -l) recordings"
check 'they were recorded' test "$(find "$SCRATCH" -name '*.cap' | wc -l)" -ge 40
check 'and most pass here' test $n -ge 900

finish
