#!/bin/sh
# mozjs/logged.sh - JSPROF_ERRORS=1: what GLib logs as a warning or worse, and what a script does
# not catch, has the unified stack, the same one once; in the journal's form it is in fields.
#
# SPDX-License-Identifier: MIT
set -eu
gjs=$B/bin/gjs-console
[ -x "$gjs" ] || { echo 'SKIP: needs libgjs-dev'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
wrong() { echo "logged: $*"; bad=1; }
cat >"$tmp/work.js" <<'EOF'
const GLib = imports.gi.GLib;
const text = new GLib.Variant('a{sv}', { MESSAGE: new GLib.Variant('s', 'careful') });
function leaf() { GLib.log_variant('Test', GLib.LogLevelFlags.LEVEL_WARNING, text); }
function outer() { leaf(); }
for (let i = 0; i < 3; i++) outer();
leaf();
log('plain');
const loop = GLib.MainLoop.new(null, false);
GLib.idle_add(0, () => { loop.quit(); throw new Error('lost'); });
loop.run();
EOF

# The stack of the first message of this text: the names of its frames.
frames() # TEXT FILE
{
    awk -v text="$1" 'index($0, text) { on = 1; next } on && /^#/ { print; seen = 1; next }
        seen { exit }' "$2"
}

JSPROF_ERRORS=1 "$gjs" "$tmp/work.js" >"$tmp/out" 2>&1 || wrong 'does not run'
frames careful "$tmp/out" >"$tmp/stack"
awk '/#0 .*g_log_structured/ && NR == 1 { n = 1 } / leaf \(.*:3:[0-9]+\) :3$/ && n == 1 { n = 2 }
    / outer \(.*:4:[0-9]+\) :4$/ && n == 2 { n = 3 } / gjs_context_eval/ && n == 3 { n = 4 }
    END { exit n != 4 }' "$tmp/stack" || { cat "$tmp/out"; wrong 'the order of C and JavaScript'; }
[ "$(grep -c '^(stack 1)$' "$tmp/out")" = 1 ] || wrong 'the first stack is not there once'
for times in 2 3; do
    grep -q "^(stack 1, $times times)$" "$tmp/out" || wrong "no count of $times"
done
! grep -q '(stack 1, 4 times)' "$tmp/out" || wrong 'another caller counts as the same stack'
grep -q '^(stack 2)$' "$tmp/out" || wrong 'no second stack'
frames 'Error: lost' "$tmp/out" >"$tmp/stack"
grep -q 'GLib.MainLoop.run' "$tmp/stack" || wrong 'an uncaught error has none'
[ "$(grep -c '^(stack ' "$tmp/out")" = 5 ] || wrong "stacks: $(grep '^(stack ' "$tmp/out")"

# Where nobody asks there are none, and a wrong word is one line.
"$gjs" "$tmp/work.js" >"$tmp/out" 2>&1
! grep -q '^(stack' "$tmp/out" || wrong 'stacks that nobody wanted'
said=$(JSPROF_ERRORS=yes "$gjs" -c 'print(7)' 2>&1)
[ "$said" = "gjs-console: JSPROF_ERRORS=yes: neither 0 nor 1
7" ] || wrong "a wrong word: $said"

# With a recording, too; the capture is whole.
JSPROF_ERRORS=1 "$gjs" --profile-output="$tmp/a.cap" "$tmp/work.js" >"$tmp/out" 2>&1
grep -q '^(stack 1)$' "$tmp/out" ||
    wrong 'none with a recording'
"$B/bin/jsprof" info "$tmp/a.cap" >"$tmp/info" || wrong 'the capture is not whole'

# The fields that the journal gets: a library in front of GLib prints them.
cat >"$tmp/journal.c" <<'EOF'
#include <glib.h>
#include <stdio.h>

gboolean g_log_writer_is_journald(gint fd)
{
    return fd >= 0;
}

GLogWriterOutput g_log_writer_default(GLogLevelFlags level, const GLogField *fields, gsize n,
                                      gpointer data)
{
    (void)data;
    for (gsize i = 0; i < n; i++)
        if (fields[i].length < 0)
            printf("%d %s=%s\n", level, fields[i].key, (const char *)fields[i].value);
    return G_LOG_WRITER_HANDLED;
}
EOF
# shellcheck disable=SC2046
${CC:-cc} -shared -fPIC $(pkg-config --cflags glib-2.0) -o "$tmp/journal.so" "$tmp/journal.c"
LD_PRELOAD="$tmp/journal.so" JSPROF_ERRORS=1 "$gjs" "$tmp/work.js" >"$tmp/out" 2>&1
grep -q '^16 MESSAGE=careful$' "$tmp/out" || wrong 'the message of the journal has the stack'
[ "$(grep -c '^16 JSPROF_STACK=#0 ' "$tmp/out")" = 2 ] ||
    wrong 'JSPROF_STACK is not there once each'
grep -q '^16 JSPROF_STACK_ID=1$' "$tmp/out" && grep -q '^16 JSPROF_STACK_TIMES=3$' "$tmp/out" ||
    wrong 'no fields of the repeats'

# A program that was built without us.
if command -v gjs >/dev/null; then
    JSPROF_ERRORS=1 "$B/bin/jsprof-gjs" gjs "$tmp/work.js" >"$tmp/out" 2>&1 ||
        wrong 'jsprof-gjs fails'
    frames careful "$tmp/out" >"$tmp/stack"
    grep -q ' outer (' "$tmp/stack" || { cat "$tmp/out"; wrong 'jsprof-gjs has no stack'; }
fi
exit $bad
