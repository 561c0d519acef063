#!/bin/sh
# labels.sh - a script sets labels and the ids of a trace by the object `jsprof`, or by the
# module `imports.jsprof`, which only calls the functions where nothing is recorded. What it
# schedules under a label has it, too.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

cat >labels.js <<'END'
const {GLib} = imports.gi;
const {label, trace} = imports.jsprof;
function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
// The time is elapsed time, and samples are of CPU time: a busy machine gives less of it.
function burn() {
    for (let end = Date.now() + 150, i = 0; Date.now() < end || i < 1000; i++)
        spin(50000);
}
function nothing(f) {
    try {
        f();
    } catch (e) {
        print(e.message);
    }
}
label('tenant', 7);
burn();
print(label('route', '/login', (a, b) => { burn(); return a + b; }, 40, 2));
nothing(() => label('route', '/bad', () => { burn(); throw new Error('mine'); }));
trace('0123456789abcdef0123456789ABCDEF', 'fedcba9876543210');
burn();
trace(null);
label('tenant', null);
burn();
const loop = GLib.MainLoop.new(null, false);
label('route', '/later', () => GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, () => {
    burn();
    loop.quit();
    return false;
}));
loop.run();
END

cat >bad.js <<'END'
for (const bad of [() => jsprof.label('x'), () => jsprof.label('', 1),
    () => jsprof.label('x', {toString() { throw new Error('mine'); }}),
    () => jsprof.label('x', 1, 2), () => jsprof.trace('xyz'),
    () => jsprof.trace('0123456789abcdef0123456789abcdef0'),
    () => jsprof.trace('0123456789abcdef0123456789abcdef', 'fedc')]) {
    try {
        bad();
        print('no error');
    } catch (e) {
        print(e.name);
    }
}
END

told() # PROGRAM...: it prints what it prints alone, and no message
{
    rm -f cap
    "$@" labels.js >out 2>err
    told_status=$?
    cat out err
    [ $told_status = 0 ] && [ "$(cat out)" = "$(printf '42\nmine')" ] && [ ! -s err ]
}

has() # LABELS
{
    "$JSPROF_TOOL" report --by label --csv cap >report
    cat report
    grep -q -- "^\"$1\"," report
}

has_trace() # as OpenTelemetry's profile has it: bytes of the id
{
    "$JSPROF_TOOL" convert --to otlp -o trace.otlp cap &&
        LC_ALL=C grep -aqP '(\x01\x23\x45\x67\x89\xab\xcd\xef){2}' trace.otlp &&
        LC_ALL=C grep -aqP '\xfe\xdc\xba\x98\x76\x54\x32\x10' trace.otlp
}

labelled() # PROGRAM...
{
    check "$*: runs" told "$@"
    check "$*: is whole" whole cap
    check "$*: a label" has 'tenant=7'
    check "$*: of a call" has 'route=\/login, tenant=7'
    check "$*: of a call that throws" has 'route=\/bad, tenant=7'
    check "$*: no label" has '\[no label\]'
    check "$*: a trace" has_trace
}

GJS_PATH=$SRCDIR/bindings/mozjs
export GJS_PATH
for program in "$GJS" gjs-console; do
    check "$program alone: the functions are called" told "$program"
    check "$program alone: no file" test ! -e cap
done
labelled "$GJS" --profile-output=cap --profile-tasks
check 'what it schedules has the label' has 'route=\/later'
labelled "$B/bin/jsprof-gjs" --profile-output=cap gjs-console
unset GJS_PATH
"$GJS" --profile-output=cap bad.js >out 2>err
check 'what is wrong throws' test "$(tr '\n' ' ' <out)" = \
    'TypeError Error Error TypeError Error Error Error '

finish
