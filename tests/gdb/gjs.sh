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
class Point { // getters, setters, a constructor with fewer arguments than it takes
    constructor(x, y, z) { this.x = x; this.y = y || 1; this.z = z || 2; }
    get sum() { return leaf(40) + this.x + this.y; }
    set both(v) { this.x = this.y = v + leaf(30); }
}
function objects() {
    const p = new Point(3);
    for (let i = 0; i < 20; i++) p.both = p.sum;
    return p.x;
}
function* numbers(n) { for (let i = 0; i < n; i++) yield leaf(i); }
function generators() { let s = 0; for (const x of numbers(20)) s += x; return s; }
function natives() {
    const t = [3, 1, 2].map(x => leaf(x * 20)).filter(x => x > 0);
    const s = 'a-b-c'.replace(/[a-c]/g, c => c + leaf(20));
    return JSON.parse(JSON.stringify(t), (k, v) => v).length + s.length + leaf.apply(null, [50]);
}
const t = Date.now();
while (Date.now() - t < 300000)
    for (const f of [sorted, objects, generators, natives]) deep(8, f);
EOF
export GJS_DISABLE_JIT=1
NO_LINES=1 equal interpreted "$B/bin/gjs-console" --profile-output="$tmp/a.cap" "$tmp/work.js"
unset GJS_DISABLE_JIT
NO_LINES=1 equal compiled "$B/bin/gjs-console" --profile-output="$tmp/b.cap" "$tmp/work.js"

# Stop at a random instruction, when all is compiled, live and in the core file: the same stack,
# C++, JavaScript and C++ again, in which each function has a name. The alarm may meet another
# thread, or this one at its root, between two rounds: then it is not yet the stop that counts.
cat >"$tmp/stop.py" <<'EOF'
import gdb

stops, deep = 0, 0
while deep < 3 or stops < 60:
    gdb.execute('continue', to_string=True)
    stops += 1
    first = stops >= 60 and gdb.selected_thread().num == 1
    shown = gdb.execute('jsprof stack -hide', to_string=True) if first else ''
    deep = sum(' jit ' in line and 'deep in ' in line for line in shown.splitlines())
EOF
gdb_run -ex "set environment LD_PRELOAD $tmp/watch.so" -ex 'set environment WATCH 1' \
    -ex 'handle SIGALRM stop print pass' -ex 'handle SIGPROF nostop noprint pass' \
    -ex "run --profile-output=$tmp/c.cap $tmp/work.js" -ex "source $tmp/stop.py" -ex 'info files' \
    -ex 'echo live\n' -ex 'jsprof stack -hide' -ex 'echo end\n' -ex "gcore $tmp/core" -ex kill \
    "$B/bin/gjs-console" >"$tmp/out"
sed '1,/^live$/d; /^end$/,$d' "$tmp/out" >"$tmp/live"
gdb_run -c "$tmp/core" -ex 'thread 1' -ex 'echo dead\n' -ex 'jsprof stack -hide' \
    "$B/bin/gjs-console" >"$tmp/dead"
sed '1,/^dead$/d' "$tmp/dead" >"$tmp/dead.stack"
awk '/ jit / && !main { jit = NR } / native main / { main = NR } / jit +deep in / { deep++ }
    / jit +(\?|\[compiled)/ { bad = 1 }
    END { exit !(jit && main > jit && deep > 2 && !bad) }' "$tmp/live" ||
    { cat "$tmp/live"; wrong 'not all of the compiled code inside of main has names'; }
diff "$tmp/live" "$tmp/dead.stack" || wrong 'another stack in the core file'
! grep -q Traceback "$tmp/out" "$tmp/dead" || wrong 'a traceback'

# The core file with some of its words overwritten.
tables=$(awk '$4 == "is" && $5 == "jsprof_tables" { print $1, $3 }' "$tmp/out" | head -1)
python3 "$SRCDIR/tests/gdb/damage.py" "$SRCDIR/debugger" "$B/bin/gjs-console" "$tmp/core" \
    "$([ "${LONG:-}" = 1 ] && echo 5000 || echo 40)" $tables || wrong 'it did not survive'
exit $bad
