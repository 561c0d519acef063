#!/bin/sh
# marks.sh - a script writes marks and counters of its own by the object `jsprof`, and there is
# no such object where nothing is recorded.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

cat >marked.js <<'END'
const {GLib} = imports.gi;
const prof = globalThis.jsprof;
print(typeof prof, Object.keys(globalThis).includes('jsprof'));
const begin = prof?.now();
GLib.usleep(20000);
prof?.mark('slept', 'twenty ms', begin);
prof?.mark('moment');
for (const size of [1.5, 7.25, 2.5])
    prof?.counter('size', size);
for (const bad of [() => prof.mark(), () => prof.counter('size'),
    () => prof.counter('size', {valueOf() { throw new RangeError('mine'); }})]) {
    try {
        if (prof)
            bad();
    } catch (e) {
        print(e.name);
    }
}
END
sed "1s/.*/import GLib from 'gi:\/\/GLib';/" marked.js >marked.mjs
printf 'undefined false\n' >without.out
printf 'object false\nTypeError\nTypeError\nRangeError\n' >with.out

marked() # CAPTURE: the marks and the counter are in it
{
    "$JSPROF_TOOL" list --csv "$1" >list || return 1
    cat list
    grep -Eq '^mark,"JavaScript","slept",1,[2-9][0-9]{7,},' list &&
        grep -q '^mark,"JavaScript","moment",1,0,' list &&
        grep -Eq '^counter,"JavaScript","size",3,11.25,1.5,3.75,2.5,7.25,7.25,2.5(,|$)' list &&
        "$JSPROF_TOOL" dump "$1" | grep -q 'twenty ms'
}

for program in "$GJS" gjs-console; do
    "$program" marked.js >out 2>err
    check "$program alone: no such object" diff without.out out
    check "$program alone: nothing to complain of" test ! -s err
done
"$GJS" --profile-output=ours.cap marked.js >out 2>err
check 'recorded: the object, and its errors' diff with.out out
check 'recorded: no messages' test ! -s err
check 'recorded: marks and counter' marked ours.cap
"$B/bin/jsprof-gjs" --profile-output=stock.cap gjs-console marked.js >out 2>err
check 'jsprof-gjs: the object, and its errors' diff with.out out
check 'jsprof-gjs: no messages' test ! -s err
check 'jsprof-gjs: marks and counter' marked stock.cap
"$GJS" --profile-output=module.cap -m marked.mjs >out 2>err
check 'a module has it, too' diff with.out out
check 'a module: marks and counter' marked module.cap

finish
