#!/bin/sh
# gdb/forms.sh - each form of a host's stack in `bt`, `thread apply all` and the jsprof commands:
# in a process, in its core file, and in a core file of a stripped program.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/gdb/lib.sh"
$CC -std=c11 -D_GNU_SOURCE -O2 -g -I"$SRCDIR/include" -o "$tmp/forms" "$SRCDIR/tests/gdb/forms.c" \
    "$B/lib/libjsprof.a" -pthread
cp "$tmp/forms" "$tmp/stripped"
$($CC -print-prog-name=strip) "$tmp/stripped"

# What a thread of this name shows, from the output of all threads.
shows() # FILE NAME LINE...
{
    file=$1 name=$2
    shift 2
    tid=$(awk -v n="$name" '/^[* ] [0-9]+ / && $(NF > 3 && $1 == "*" ? 4 : 3) == n {
        print $1 == "*" ? $2 : $1; exit }' "$file")
    [ -n "$tid" ] || { wrong "$file: no thread $name"; return; }
    awk -v t="Thread $tid " 'index($0, t) == 1 { on = 1; next } /^Thread / { on = 0 } on' "$file" \
        >"$tmp/one"
    printf '%s\n' "$@" >"$tmp/expected"
    names='linked[0-9]|outer|by_pc|first|second|third[:0-9]*|\[frames of [^]]*\]'
    grep -oE "($names) \\(\\).*" "$tmp/one" | diff "$tmp/expected" - ||
        wrong "$file: thread $name differs"
}

all() # FILE
{
    shows "$1" linked 'linked1 () at linked.vm:15' 'linked2 () at linked.vm:25' \
        'linked3 () at linked.vm:35'
    shows "$1" array 'by_pc () at array.vm:42' 'outer () at array.vm:7'
    shows "$1" depth 'third:8 ()' 'second () at host.vm:5' 'first () at host.vm:3'
    shows "$1" end 'second () at host.vm:5' 'first () at host.vm:3'
    shows "$1" context 'third:8 ()' 'second () at host.vm:5' 'first () at host.vm:3'
    shows "$1" walked '[frames of a walker that this script does not know] ()'
    shows "$1" main 'linked1 () at linked.vm:15' 'linked2 () at linked.vm:25'
    ! grep -q Traceback "$1" || wrong "$1: a traceback"
}

show='thread apply all bt'
gdb_run -ex 'break forms_ready' -ex run -ex 'jsprof threads' -ex "$show" \
    -ex "gcore $tmp/core" -ex kill "$tmp/forms" >"$tmp/live"
all "$tmp/live"
# The order among C frames: the function of the entry is inside of the C frame that holds it.
awk '/^Thread .*"forms"/ { t++ } /rest \(\)/ && !r { r = NR } /linked1 \(\)/ && !l { l = NR }
    END { exit !(r && l && r < l) }' "$tmp/live" || wrong 'rest() is not inside of linked1'

gdb_run -ex "core $tmp/core" -ex 'jsprof threads' -ex "$show" "$tmp/forms" >"$tmp/dead"
all "$tmp/dead"
gdb_run -ex "core $tmp/core" -ex 'jsprof threads' -ex "$show" "$tmp/stripped" >"$tmp/bare"
all "$tmp/bare"

# Commands.
gdb_run -ex "core $tmp/core" -ex 'jsprof stack -hide' -ex 'jsprof frame 1' -ex 'jsprof frame 99' \
    "$tmp/forms" >"$tmp/commands"
grep -qE '^#1 +vm +linked1 at linked.vm:15' "$tmp/commands" || wrong 'jsprof stack'
grep -q 'defined at line 10' "$tmp/commands" || wrong 'jsprof frame'
grep -q '"99" is none of 0 to' "$tmp/commands" || wrong 'jsprof frame 99'

# The source around the line: plain, in colour, and without a file.
seq -f 'let line%g = "text";' 30 >"$tmp/linked.vm"
lists() # OPTION... : with the environment of the caller
{
    gdb -nx -q -batch -iex 'set auto-load no' -ex "source $script" -ex "directory $tmp" "$@" \
        -ex "core $tmp/core" -ex 'jsprof frame 1' -ex 'jsprof list' "$tmp/forms" 2>&1 || true
}
NO_COLOR=1 lists >"$tmp/listed"
grep -qF -- '-> 15  let line15 = "text";' "$tmp/listed" || wrong "jsprof list: $(cat "$tmp/listed")"
! grep -q "$(printf '\033')" "$tmp/listed" || wrong 'NO_COLOR has colour'
NO_COLOR= lists -ex 'set style enabled on' >"$tmp/listed"
grep -q "$(printf '\033\\[32m"text"')" "$tmp/listed" || wrong 'jsprof list has no colour'
NO_COLOR= lists -ex 'set style enabled off' >"$tmp/listed"
! grep -q "$(printf '\033')" "$tmp/listed" || wrong 'style off has colour'
rm "$tmp/linked.vm"
lists >"$tmp/listed"
grep -q 'jsprof list: linked.vm: no such file' "$tmp/listed" || wrong 'jsprof list without a file'

# Nothing to see: one line each.
gdb_run -ex 'jsprof stack' "$tmp/forms" | grep -q 'no jsprof in this program, or it does not run' ||
    wrong 'before the start'
gdb_run -ex 'break main' -ex run -ex 'jsprof stack' -ex kill "$tmp/forms" |
    grep -q 'no session is open' || wrong 'without a session'
# The version of its table is not ours: 1 becomes 2. Python finds the bytes.
python3 - "$tmp/forms" "$tmp/newer" <<'EOF'
import sys
data = open(sys.argv[1], 'rb').read()
assert data.count(b'jsprof@D\1\0\0\0') == 1
open(sys.argv[2], 'wb').write(data.replace(b'jsprof@D\1\0\0\0', b'jsprof@D\2\0\0\0'))
EOF
chmod +x "$tmp/newer"
gdb_run -ex 'break forms_ready' -ex run -ex 'jsprof stack' -ex bt -ex kill "$tmp/newer" >"$tmp/out"
grep -q 'has version 2, newer than the 1' "$tmp/out" || wrong "newer: $(cat "$tmp/out")"
grep -q '^#[0-9]* .*in main (' "$tmp/out" || wrong 'a newer table harms bt'
exit $bad
