#!/bin/sh
# tiers.sh - the capture has the interpreter or compiler that ran each frame.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# Self time in this tier, in whole percent.
tier() # WORD
{
    "$JSPROF_TOOL" report --by tier --csv --clock=cpu tier.cap | awk -F, -v tier="\"$1\"" '
        NR > 1 { all += $2; if ($1 == tier) mine = $2 }
        END { printf "%.0f\n", all ? 100 * mine / all : 0 }'
}

record() # TIER PERCENT SCRIPT OPTION...
{
    record_tier=$1
    record_percent=$2
    record_script=$3
    shift 3
    BURN_MS=1000 "$GJS" --profile-clock=wall --profile-output=tier.cap "$@" \
        "$SCRIPTS/$record_script" >out 2>err
    check "$record_script: whole" whole tier.cap
    record_is=$(tier "$record_tier")
    check "$record_script $*: $record_tier has $record_is %, not $record_percent or more" \
        test "$record_is" -ge "$record_percent"
}

record optimized 60 compiled.js
record baseline 60 compiled.js --profile-calls=on
record wasm 60 wasm.js
GJS_DISABLE_JIT=1
export GJS_DISABLE_JIT
record interpreter 50 compiled.js
unset GJS_DISABLE_JIT

# A function that is called once a time stays for a while where the interpreter's calls begin.
cat >short.js <<'END'
for (let i = 0; i < 3000; i++) {
    const f = new Function('a', 'let x = 0; for (let k = 0; k < 40; k++) x += a * k; return x;');
    for (let k = 0; k < 15; k++)
        f(i);
}
END
"$GJS" --profile-hz=5000 --profile-clock=wall --profile-output=tier.cap short.js >out 2>err
# Of 1243 samples 102 are of that tier: 20 on a machine five times as fast, and none in e^-20.
check 'there are samples in the baseline interpreter' sh -c "'$JSPROF_TOOL' report --by tier --csv \
    tier.cap | grep -Eq '^\"baseline-interpreter\",[0-9]+,[0-9]+,[1-9]'"

finish
