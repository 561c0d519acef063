#!/bin/sh
# bad.sh - scripts that make it hard for a profiler have the results they have without,
# and what could not be recorded whole is counted.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

alike() # WHAT ARGS...: leaves bad.cap
{
    alike_what=$1
    shift
    gjs-console "$@" >want.out 2>want.err
    echo $? >want.rc
    "$GJS" --profile-output=bad.cap "$@" >got.out 2>got.err
    echo $? >got.rc
    for alike_part in out err rc; do
        check "$alike_what: $alike_part" same_text want.$alike_part got.$alike_part
    done
    check "$alike_what: there is output" test -s want.out
    check "$alike_what: whole" whole bad.cap
}

burn='const burn = ms => { const t = Date.now(); while (Date.now() - t < ms); };'

alike 'Error.prepareStackTrace replaced' -c "$burn
    Error.prepareStackTrace = () => { throw new Error('mine'); };
    Object.defineProperty(Error.prototype, 'stack', {get() { burn(1); return 'none'; }});
    for (let i = 0; i < 50; i++) { try { null.x; } catch (e) { burn(2); print(e.stack); } }"
alike 'the globals of a script taken away' -c "$burn
    delete Object.prototype.toString; Function.prototype.call = null; Array.from = null;
    Object.defineProperty(Object.prototype, 'mallocBytes', {get() { print('seen'); }});
    let a = []; for (let i = 0; i < 3e5; i++) a.push({i}); burn(100); print(a.length);"
alike 'the stack overflown, again and again' -c "
    function forever(n) { return forever(n + 1) + 1; }
    let n = 0;
    for (let i = 0; i < 30; i++) { try { forever(0); } catch (e) { n += e.name.length; } }
    print(n);"

# -- Names --
alike 'a function name of a megabyte' -c "$burn
    const name = 'n'.repeat(1 << 20);
    const f = new Function('burn', 'function ' + name + '() { burn(100); } ' + name + '();');
    f(burn); print(f.name.length);"
check 'is cut and counted' sh -c "'$JSPROF_TOOL' dump bad.cap | grep -Eq 'labels_cut=[1-9]'"
check 'a sample does not read all of it: less than 0.3 ms' sh -c "'$JSPROF_TOOL' dump bad.cap |
    grep -oE '(handler_ns|samples)=[0-9]+' | awk -F= '{ sum[\$1] += \$2 }
        END { exit !(sum[\"samples\"] && sum[\"handler_ns\"] / sum[\"samples\"] < 3e5) }'"
check 'but there' sh -c "'$JSPROF_TOOL' report --csv --limit=0 bad.cap | grep -q nnnnnnnnnnnn"

name=$(printf 'a\001b\033[31mc\nd\te.js')
echo 'function burn() { const t = Date.now(); while (Date.now() - t < 200); }
burn(); print(1);' >"$name"
alike 'a source name with control characters' "$name"
printable() # COMMAND...: prints no control character but the ends of lines
{
    "$@" >printed || return 1
    grep -q burn printed || return 1
    ! LC_ALL=C grep -n "$(printf '[\001-\010\013-\037]')" printed
}
check 'is harmless in a report' printable "$JSPROF_TOOL" report bad.cap
check 'and in a tree' printable "$JSPROF_TOOL" tree bad.cap

# -- Many of everything --
alike 'ten thousand functions' -c "$burn
    let n = 0;
    for (let i = 0; i < 10000; i++)
        n += new Function('return function f' + i + '() { let x = 0;' +
            'for (let j = 0; j < 3000; j++) x += j; return 1; }')()();
    print(n);"
check 'lose no name' sh -c "'$JSPROF_TOOL' dump bad.cap | grep -q 'labels_lost=0'"

finish
