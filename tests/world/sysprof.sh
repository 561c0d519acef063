#!/bin/sh
# sysprof.sh - Sysprof's own recorder gets a script's stacks from gjs-console, each way it
# has of asking; and SIGUSR2 stops and continues a recording of our own.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/mozjs/lib.sh"
for tool in sysprof-cli dbus-run-session /usr/libexec/sysprofd; do
    command -v $tool >/dev/null || { echo 'SKIP: needs sysprof dbus'; exit 77; }
done
cd "$SCRATCH" || exit 1

# The recorder wants a system bus with a policy daemon and its own helper.
cat >session <<'END'
DBUS_SYSTEM_BUS_ADDRESS=$DBUS_SESSION_BUS_ADDRESS
export DBUS_SYSTEM_BUS_ADDRESS
rm -f ready
/usr/bin/gjs-console "$SCRIPTS/polkit.js" >ready &
policy=$!
n=0
while [ ! -s ready ] && [ $n -lt 100 ]; do sleep 0.1; n=$((n + 1)); done
/usr/libexec/sysprofd >/dev/null 2>&1 &
helper=$!
n=0
while [ $n -lt 100 ] && ! dbus-send --session --print-reply --dest=org.freedesktop.DBus / \
    org.freedesktop.DBus.NameHasOwner string:org.gnome.Sysprof3 | grep -q true; do
    sleep 0.1
    n=$((n + 1))
done
timeout -k 1 20 sysprof-cli -f --no-perf "$@" >out 2>err
echo $? >rc
kill $policy $helper
END
export SCRIPTS

sysprof() # OPTION-OR-NOTHING CONSOLE ARGS...: leaves recording.cap
{
    rm -f recording.cap
    sysprof_option=$1
    shift
    # shellcheck disable=SC2086
    timeout -k 1 30 dbus-run-session -- sh ./session $sysprof_option recording.cap -- "$@" \
        >session.log 2>&1
}

has_stacks() # of spin below mostwork below the script
{
    "$JSPROF_TOOL" report --csv --limit=0 recording.cap >report.csv || return 1
    cat report.csv
    grep -q '^"\{0,1\}spin (.*/shares[.]js:4:'"$(column 13))" report.csv &&
        grep -q '/shares[.]js' report.csv && grep -q '^"\{0,1\}mostwork ' report.csv
}

# Our embedded files say of samples what is true of ours only, but for these.
only_true_files()
{
    "$JSPROF_TOOL" dump recording.cap >dump || return 1
    grep ' FILE  *jsprof/' dump >files
    test -s files && ! grep -Ev 'jsprof/(frames|relayed)' files
}

# Without weights, a sample is not a time.
no_times()
{
    "$JSPROF_TOOL" report --json recording.cap | sed -n 1p | tee head.json
    grep -q '"unit":"samples"' head.json || return 1
    "$JSPROF_TOOL" report recording.cap | sed -n 2p | tee head.txt
    "$JSPROF_TOOL" info recording.cap >info || return 1
    tail -n 1 info
    ! grep -Eq 'of (CPU|elapsed) time' head.txt && ! grep -q 'killed' info &&
        grep -q 'has no weights and losses' info
}

# Where Sysprof numbers the functions anew, jsprof/relayed has our numbers.
has_tiers()
{
    "$JSPROF_TOOL" report --by tier recording.cap | tee tiers
    grep -Eq ' (baseline|optimized)$' tiers && ! grep -Eq ' vm$' tiers
}

for option in '' --gjs --use-trace-fd; do
    BURN_MS=700 sysprof "$option" "$GJS" "$SCRIPTS/shares.js"
    check "sysprof-cli $option ends well" grep -qx 0 rc
    check "sysprof-cli $option: the script's output" sh -c 'cat err; grep -qx 84296 out'
    check "sysprof-cli $option: nothing to complain of" sh -c '! grep gjs-console err'
    check "sysprof-cli $option: its recording has our stacks" has_stacks
    check "sysprof-cli $option: of our files those that are true" only_true_files
    check "sysprof-cli $option: no times" no_times
    check "sysprof-cli $option: tiers" has_tiers
done
BURN_MS=700 sysprof '' "$B/bin/jsprof-gjs" /usr/bin/gjs-console "$SCRIPTS/shares.js"
check 'jsprof-gjs below sysprof-cli ends well' grep -qx 0 rc
check 'jsprof-gjs: the recording has our stacks' has_stacks
check 'jsprof-gjs: of our files those that are true' only_true_files
check 'jsprof-gjs: no times' no_times
check 'jsprof-gjs: tiers' has_tiers
BURN_MS=100 sysprof '' /usr/bin/gjs-console "$SCRIPTS/shares.js"
check 'a stock console tells Sysprof nothing' sh -c \
    "'$JSPROF_TOOL' report recording.cap 2>&1 | grep -q 'no samples'"

# -- Not Sysprof after all --
SYSPROF_CONTROL_FD=77 SYSPROF_TRACE_FD=x "$GJS" -c 'print(1)' >out 2>err
check 'a descriptor that is not open is not asked' test $? = 0 -a ! -s err
SYSPROF_CONTROL_FD=9 "$GJS" -c 'print(1)' >out 2>err 9</dev/null
check 'a descriptor that is no socket: the script runs' grep -qx 1 out
check 'and one line says so' one_line err '^gjs-console: SYSPROF_CONTROL_FD: .*socket'
GJS_ENABLE_PROFILER=1 GJS_TRACE_FD=9 "$GJS" -c 'print(1)' >out 2>err 9>traced
check 'GJS_TRACE_FD gets a capture' sh -c "'$JSPROF_TOOL' info traced | grep -q 'recorder *jsprof'"

# -- SIGUSR2 --
seen() # FUNCTION
{
    "$JSPROF_TOOL" report --csv --limit=0 toggled.cap | grep -q "^\"\{0,1\}$1 ("
}

toggled() # on|off FUNCTIONS-SEEN NOT-SEEN
{
    BURN_MS=300 "$GJS" --profile-output=toggled.cap --profile-toggle="$1" \
        "$SCRIPTS/toggled.js" >out 2>err
    check "toggled from $1: its status, output" test $? = 0 -a "$(cat out)" = done -a ! -s err
    check "toggled from $1: whole" whole toggled.cap
    for name in $2; do check "toggled from $1: $name is seen" seen "$name"; done
    for name in $3; do check "toggled from $1: $name is not" sh -c "! '$JSPROF_TOOL' report \
        --csv --limit=0 toggled.cap | grep '^\"\{0,1\}$name ('"; done
}

toggled on 'first third' second
toggled off second 'first third'

finish
