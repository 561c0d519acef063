#!/bin/sh
# storm.sh - ten thousand samples a second while SIGUSR2 stops and continues them, code
# comes and goes, the collector runs, exceptions fly: the results are as ever, no process
# dies, no sample and no name is lost without being counted. LONG=1: two million samples.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1
ms=${LONG:+15000}
ms=${ms:-300}
target=${LONG:+2000000}
target=${target:-1000}
again_ms=${LONG:+1500}
again_ms=${again_ms:-400}
samples=0
rounds=0

# Does storm.cap reach the session's end, and hold or count all?
ended()
{
    cat storm.info
    grep -Eq '(: adds up, and the file holds them all|^  samples +0,)' storm.info &&
        never 'killed or still running'
}

# `jsprof info` reports this of a capture whose output is known, and not of storm.cap.
never() # WORDS
{
    grep -rqF "$1" "$SRCDIR/tests/cli" && ! grep -F "$1" storm.info
}

# Stop and continue, once the process listens, until it is gone.
pester() # PID
{
    until grep -q '^SigCgt:.*[89a-f]..$' "/proc/$1/status"; do
        kill -0 "$1" || return
        sleep 0.02
    done 2>/dev/null
    while kill -USR2 "$1" 2>/dev/null; do sleep 0.05; done
}

storm() # NAME ARGS...
{
    storm_name=$1
    shift
    BURN_MS=$ms "$GJS" --profile-output=storm.cap --profile-hz=10000 --profile-clock=wall \
        --profile-toggle=on "$@" >got.out 2>got.err &
    storm_pid=$!
    pester $storm_pid &
    wait $storm_pid
    storm_rc=$?
    wait
    check "$storm_name: status $storm_rc" test $storm_rc = 0
    check "$storm_name: output" same_text want.out got.out
    # once for all checks, and not `dump`, which names each frame of each sample
    "$JSPROF_TOOL" info storm.cap >storm.info 2>&1
    check "$storm_name: whole" ended
    check "$storm_name: no name is lost" never 'without a name, the table was full'
    check "$storm_name: no entry is unreadable" never 'made no sense: entered in'
    samples=$((samples + $(sed -n 's/^ *samples *\([0-9,]*\) for.*/\1/p' storm.info | tr -d ,)))
    rounds=$((rounds + 1))
    [ -z "${LONG:-}" ] || echo "$samples samples after $storm_name"
}

# On a busy machine the buffer fills, and one line says so at the end.
only_losses() # FILE
{
    cat "$1"
    ! grep -v '^gjs-console: --profile-output: .* samples are missing: buffer full ' "$1"
}

# A sample that asks for a name while the names are looked at waits for ever.
again() # PREFIX
{
    BURN_MS=$again_ms timeout 60 env $1 "$GJS" --profile-output=again.cap --profile-hz=10000 \
        --profile-clock=wall "$SCRIPTS/back.js" again >again.out 2>again.err
    check "instantiated again, $1: status $?" test "$(cat again.out)" = done
    check "instantiated again, $1: no other message" only_losses again.err
    check "instantiated again, $1: whole" whole again.cap
    "$JSPROF_TOOL" tree --depth 12 again.cap >again.tree
}

again GJS_DISABLE_JIT=1
again BURNS=1
check 'the function that did it is named' grep -q 'wasm-function\[1\]' again.tree

# SpiderMonkey loses frames there; samples have their callers in C nevertheless.
BURN_MS=$again_ms "$GJS" --profile-output=forgets.cap --profile-hz=10000 --profile-clock=wall \
    "$SCRIPTS/back.js" forgets >forgets.out 2>forgets.err
forgets_rc=$?
"$JSPROF_TOOL" info forgets.cap | tee forgets.info | grep 'C stacks'
check 'frames forgotten: whole' whole forgets.cap
check "frames forgotten: output, status $forgets_rc" test "$(cat forgets.out)" = done
check 'frames forgotten: no other message' only_losses forgets.err
check 'frames forgotten: C stacks' \
    awk '/C stacks/ { sub(">", "", $3); seen = $3 + 0 } END { exit !(seen >= 98) }' forgets.info

# listing is not among them: /usr/share may change.
parts='fresh bailouts exceptions collections calls regexp churn generators asynchronous wasm sort'
# shellcheck disable=SC2086
BURN_MS=1 gjs-console "$SCRIPTS/parts.js" $parts >want.out
while [ $samples -lt $target ] && [ $FAILED = 0 ]; do
    storm parts "$SCRIPTS/parts.js" $parts
    export GJS_DISABLE_JIT=1
    storm 'parts, interpreted' "$SCRIPTS/parts.js" $parts
    unset GJS_DISABLE_JIT
done
echo "$samples samples in $rounds programs"
check "there are $target" test $samples -ge $target

finish
