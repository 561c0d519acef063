#!/bin/sh
# marks.sh - a script writes marks and counters of its own by the object `jsprof`, and there is
# no such object where nothing is recorded; or by the module `imports.jsprof`, which does nothing
# then.
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

# The module, which finds the object when there is one.
cat >imported.js <<'END'
const {GLib} = imports.gi;
const {mark, counter, now} = imports.jsprof;
const begin = now();
GLib.usleep(20000);
const took = now() - begin;
mark('slept', 'twenty ms', begin);
mark('moment');
for (const size of [1.5, 7.25, 2.5])
    counter('size', size);
print(took >= 2e7 && took < 2e10);
END
sed "1s/.*/import GLib from 'gi:\/\/GLib';/" imported.js >imported.mjs

# Marks whose times the script knows, and a counter with three values.
cat >exact.js <<'END'
const {jsprof} = globalThis, begin = jsprof.now();
jsprof.mark('first', 'of two', begin - 3000001);
jsprof.mark('second', 'of two', begin - 1000000);
for (const value of [0.1, -7e300, 3])
    jsprof.counter('value', value);
print(begin, jsprof.now());
for (const end = Date.now() + 50; Date.now() < end;);
END

exact() # PROGRAM...: each begin to the nanosecond, each end before the script's later look
{
    rm -f exact.cap
    "$@" exact.js >out && "$JSPROF_TOOL" convert --to json -o exact.json exact.cap || return 1
    read -r begin end <out
    start=$(sed -n 's/.*"start_ns":\([0-9]*\).*/\1/p' exact.json)
    grep -o '"time_ns":[^}]*"name":"[a-z]*","message":"of two"' exact.json |
        tr -c '0-9a-z\n' ' ' | tee times
    while read -r _ _ time _ _ took _ _ _ _ _ _ name _; do
        case $name in
        first) want=$((begin - 3000001)) ;;
        *) want=$((begin - 1000000)) ;;
        esac
        echo "$name: $((start + time)), wanted $want, took $took, end $end"
        [ $((start + time)) = "$want" ] && [ $((want + took)) -ge "$begin" ] &&
            [ $((want + took)) -le "$end" ] || return 1
    done <times
    [ "$(wc -l <times)" = 2 ] &&
        grep -o '"name":"value".*' exact.json |
        grep -Eq '^[^[]*"values":\[\[[0-9]+,0\.1],\[[0-9]+,-7e\+300],\[[0-9]+,3]]'
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

GJS_PATH=$SRCDIR/bindings/mozjs
export GJS_PATH
for script in imported.js '-m imported.mjs'; do
    for program in "$GJS" gjs-console "$GJS --profile-output=imported.cap" \
        "$B/bin/jsprof-gjs --profile-output=imported.cap gjs-console"; do
        rm -f imported.cap
        # shellcheck disable=SC2086
        $program $script >out 2>err
        check "$program $script: imports.jsprof" test "$(cat out)" = true -a ! -s err
        case $program in
        *imported.cap*) check "$program $script: marks and counter" marked imported.cap ;;
        *) check "$program $script: no file" test ! -e imported.cap ;;
        esac
    done
done
unset GJS_PATH

check 'times and values are exact' exact "$GJS" --profile-output=exact.cap
check 'jsprof-gjs: times and values are exact' exact "$B/bin/jsprof-gjs" \
    --profile-output=exact.cap gjs-console

finish
