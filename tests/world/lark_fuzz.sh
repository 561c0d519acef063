#!/bin/sh
# world/lark_fuzz.sh - random programs do the same natively as interpreted: output, errors
# and status. FUZZ_PROGRAMS says how many, FUZZ_SEED which is the first.
#
# SPDX-License-Identifier: MIT
set -u
. "${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}/tests/lark/lib.sh"
cd "$SCRATCH" || exit 1
programs=${FUZZ_PROGRAMS:-60}
first=${FUZZ_SEED:-1}

run_as() # NAME OPTION...
{
    run_name=$1
    shift
    timeout 20 "$LARK" "$@" p.lark >"$run_name.out" 2>"$run_name.err"
    echo "status $?" >>"$run_name.err"
}

same_as_interpreted() # OPTION...
{
    run_as native "$@"
    cmp -s plain.out native.out && cmp -s plain.err native.err && return
    echo "not ok - seed $seed, $*: not as interpreted"
    diff plain.out native.out | head -n 3
    diff plain.err native.err | head -n 3
    cp p.lark "${B:?}/fuzz-$seed.lark"
    FAILED=$((FAILED + 1))
}

ended=0
seed=$first
while [ "$seed" -lt $((first + programs)) ]; do
    awk -v seed="$seed" -f "$DATA/generate.awk" >p.lark
    run_as plain --jit=off
    grep -q '^status 0' plain.err && ended=$((ended + 1))
    grep -Eq '^status (0|1)$' plain.err ||
        { echo "not ok - seed $seed: $(cat plain.err)"; FAILED=$((FAILED + 1)); }
    same_as_interpreted --jit-threshold=1
    same_as_interpreted --jit-threshold=13 --jit-cache-bytes=12000
    CASES=$((CASES + 2))
    seed=$((seed + 1))
done

# The generator must make programs that get somewhere.
echo "$ended of $programs programs ran to their end"
check 'half of the programs run to their end' [ "$ended" -ge $((programs / 2)) ]
finish
