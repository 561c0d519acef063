#!/bin/sh
# gdb/gjs.sh - GJS's stacks in gdb: what SpiderMonkey's interpreter runs is what the program itself
# finds; a program with compiled code shows C++, JavaScript and C++ again, out to main.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/gdb/lib.sh"
[ -x "$B/bin/gjs-console" ] || { echo 'SKIP: needs libgjs-dev'; exit 77; }
watch_build
cat >"$tmp/work.js" <<'EOF'
function leaf(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
function deep(n, f) { return n === 0 ? f() : deep(n - 1, f) + 1; }
function sorted() {
    const t = [];
    for (let i = 0; i < 60; i++) t.push((i * 37) % 61);
    t.sort((a, b) => a - b);
    return leaf(200);
}
const t = Date.now();
while (Date.now() - t < 300000) deep(8, sorted);
EOF
export GJS_DISABLE_JIT=1
NO_LINES=1 equal interpreted "$B/bin/gjs-console" --profile-output="$tmp/a.cap" "$tmp/work.js"
unset GJS_DISABLE_JIT

set -- # 30 samples, of which the last ones find compiled code
for i in $(seq 30); do set -- "$@" -ex continue; done
gdb_run -ex 'handle SIGPROF stop print pass' -ex "run --profile-output=$tmp/a.cap $tmp/work.js" \
    "$@" -ex 'jsprof stack -hide' -ex kill "$B/bin/gjs-console" >"$tmp/out"
awk '/ jit / && !main { jit = NR } / native main / { main = NR }
    END { exit !(jit && main > jit) }' "$tmp/out" ||
    { tail -40 "$tmp/out"; wrong 'no compiled code inside of main'; }
! grep -q Traceback "$tmp/out" || wrong 'a traceback'
exit $bad
