#!/bin/sh
# exit.sh - however a recorded program ends, it ends as it would without, and leaves
# the capture it owes: whole, or readable up to the last flush when it was killed.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

ends_alike() # ARGS...
{
    gjs-console "$@" >want.out 2>want.raw
    echo $? >want.rc
    rm -f end.cap
    "$GJS" --profile-output=end.cap "$@" >got.out 2>got.raw
    echo $? >got.rc
    for ends_who in want got; do
        without_allocations $ends_who.raw >$ends_who.err
    done
    for ends_part in out err rc; do
        check "$*: $ends_part" same_text want.$ends_part got.$ends_part
    done
    check "$*: whole" whole end.cap
}

# While a profiler is on, SpiderMonkey also keeps promises that then() returns to
# nobody, and so gjs can say where a rejected one was made.
without_allocations() # FILE
{
    sed -e '/Stack trace of the failed promise:$/,/^$/{' \
        -e '/^ *[^ ]*@.*:[0-9]*:[0-9]*$/d' -e '}' "$1"
}

for end in ok exit throws throws_string throws_null throws_deep recursion idle_exit \
    idle_throws signal_exit promise_exit promise_throws rejected_then_exit awaited \
    awaiting_and_throws import_fails gi_fails compile_fails subprocess last_value; do
    ends_alike "$SCRIPTS/ends.js" "$end"
done
ends_alike -c 'imports.system.exit(3)'
ends_alike -c '7'
ends_alike "$SCRIPTS/syntax.js"
ends_alike -m "$SCRIPTS/syntax.mjs"
ends_alike -m "$SCRIPTS/throws.mjs"
ends_alike -m "$SCRIPTS/exits.mjs"
ends_alike -m "$SCRIPTS/imports_missing.mjs"
ends_alike -m "$SCRIPTS/doublegi.mjs"
GJS_DISABLE_JIT=1 ends_alike "$SCRIPTS/ends.js" idle_exit

rm -f never.cap
"$GJS" --profile-output=never.cap no_such_script.js >/dev/null 2>&1
check 'a script that is not there: status 1, no capture' test $? = 1 -a ! -e never.cap

# -- Signals --
# Run a script that says "ready" while it burns, then send it a signal. A shell lets
# its background jobs ignore SIGINT, so that is undone.
signalled() # SIGNAL SCRIPT-TEXT: leaves its status in $status, its output in out
{
    rm -f fifo end.cap
    mkfifo fifo
    env --default-signal=INT "$GJS" --profile-output=end.cap -c "$2" >fifo 2>err &
    pid=$!
    exec 3<fifo
    read -r word <&3
    [ "$word" = ready ] || fail "$2 said $word"
    kill -s "$1" "$pid"
    cat <&3 >out
    exec 3<&-
    wait "$pid" 2>/dev/null
    status=$?
}

burn='const burn = ms => { const t = Date.now(); while (Date.now() - t < ms); };'
for signal in TERM:143 INT:130 HUP:129; do
    name=SIG${signal%:*}
    signalled "${signal%:*}" "$burn burn(100); print('ready'); burn(20000); print('never');"
    check "$name ends it as ever, not with $status" test "$status" = "${signal#*:}"
    check "$name: nothing said" test ! -s out -a ! -s err
    check "$name: whole" whole end.cap
    check "$name: sampled" info_has end.cap '^[1-9][0-9,]* expirations'
done

signalled KILL "$burn burn(2500); print('ready'); burn(20000);"
check 'SIGKILL ends it' test "$status" = 137
check 'and the capture reads up to the last flush' info_has end.cap '^[1-9][0-9,]* expirations'

signalled TERM "$burn const {GLib} = imports.gi; const loop = GLib.MainLoop.new(null, false);
    GLib.unix_signal_add(0, 15, () => { print('mine'); loop.quit(); return false; });
    GLib.idle_add(0, () => { print('ready'); return false; });
    loop.run(); imports.system.exit(5);"
check "a script's own handler is the one that runs" test "$status" = 5
check 'and says so' grep -q mine out
check 'and the capture is whole' whole end.cap

# -- Children do not write into the parent's file --
ends_alike -c 'const {GLib} = imports.gi;
    for (let i = 0; i < 20; i++)
        GLib.spawn_sync(null, ["true"], null, GLib.SpawnFlags.SEARCH_PATH, () => {});'

finish
