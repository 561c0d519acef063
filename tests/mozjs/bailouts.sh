#!/bin/sh
# bailouts.sh - where optimized code gives up, and which functions lose their compiled code, are
# marks with reason and place.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# Each turn calls size with objects of another kind than the turn before, for which its code is
# compiled.
cat >changes.js <<'END'
function size(o) {
    return o.x.length;
}
let sum = 0;
for (let turn = 0; turn < 40; turn++) {
    for (let i = 0; i < 20000; i++)
        sum += size(turn % 2 ? {x: [1]} : {y: 1, x: 'text'});
}
print('done');
END

listed() # PROGRAM...: the messages of the marks
{
    rm -f cap
    "$@" changes.js >out 2>err
    cat out err
    [ "$(cat out)" = done ] && [ ! -s err ] && whole cap &&
        "$JSPROF_TOOL" list --messages --csv cap >list
    cat list
}

# The reason's name differs with the version; the place is that of the function or of its call.
bailed()
{
    grep -E 'JIT.*Bailout.* on line [1-5] of .*changes\.js:[1-5]' list
}

invalidated()
{
    grep -E 'JIT.*Invalidate.*changes\.js:[1-5]:[0-9]+' list
}

for program in gjs-console jsprof-gjs; do
    UNDER=$program
    record="$B/bin/$program --profile-output=cap"
    [ $program = gjs-console ] || record="$record -- gjs-console"
    # shellcheck disable=SC2086
    check 'recorded' listed $record
    check 'bailouts are marks with reason and place' bailed
    check 'invalidations are marks with the function' invalidated
done
UNDER=
check 'without compilers' listed env GJS_DISABLE_JIT=1 "$GJS" --profile-output=cap
check 'there are none' sh -c '! grep JIT list'
finish
