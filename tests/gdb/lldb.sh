#!/bin/sh
# gdb/lldb.sh - the stacks of a process and of its core file in lldb: the host's functions among
# the C frames that run them.
#
# SPDX-License-Identifier: MIT
set -eu
lldb=$(command -v lldb || command -v lldb-14 || :)
[ -n "$lldb" ] || { echo 'SKIP: needs lldb'; exit 77; }
. "$SRCDIR/tests/gdb/lib.sh" # whose gdb makes the core file
# Debian 12's lldb 14 does not find its own Python files.
for folder in /usr/lib/llvm-14/lib/python3*/dist-packages; do
    PYTHONPATH=$folder${PYTHONPATH:+:$PYTHONPATH}
done
export PYTHONPATH
$CC -std=c11 -D_GNU_SOURCE -O2 -g -I"$SRCDIR/include" -o "$tmp/forms" "$SRCDIR/tests/gdb/forms.c" \
    "$B/lib/libjsprof.a" -pthread

in_lldb() # COMMAND... : of lldb
{
    for c; do
        set -- "$@" -o "$c"
        shift
    done
    timeout 120 "$lldb" -x -b "$@" 2>&1 || true
}

# What `jsprof stack -hide` shows of the host's functions and of those around them.
shown() # FILE EXPECTED-LINE...
{
    file=$1
    shift
    printf '%s\n' "$@" >"$tmp/expected"
    names='(linked[0-9]+|run_linked|main|rest)( at [^/ ]*\.vm:[0-9]+)?'
    sed -nE "s/^#[0-9]+ +(vm|native|loop) +($names).*/\\1 \\2/p" "$file" |
        diff "$tmp/expected" - || { cat "$file"; wrong "$file: another stack"; }
}

load="command script import $SRCDIR/debugger/jsprof_lldb.py"
in_lldb "target create $tmp/forms" 'breakpoint set -n forms_ready' run "$load" 'jsprof threads' \
    'jsprof stack -hide' 'jsprof nonsense' kill >"$tmp/live"
shown "$tmp/live" 'vm linked1 at linked.vm:15' 'native run_linked' 'vm linked2 at linked.vm:25' \
    'native run_linked' 'native main'
grep -qE '^[0-9]+ +[0-9]+ +walked$' "$tmp/live" || wrong 'jsprof threads'
grep -q 'error: jsprof stack \[-hide\], or jsprof threads' "$tmp/live" || wrong 'a wrong word'

gdb_run -ex 'break forms_ready' -ex run -ex "gcore $tmp/core" -ex kill "$tmp/forms" >"$tmp/gcore"
in_lldb "target create $tmp/forms --core $tmp/core" "$load" 'jsprof stack' >"$tmp/dead"
shown "$tmp/dead" 'vm linked1 at linked.vm:15' 'native run_linked' 'vm linked2 at linked.vm:25' \
    'native run_linked' 'native main'

# The interpreter's own function is hidden where the host said so.
in_lldb "target create $tmp/forms" 'breakpoint set -n forms_ready' 'process launch -- deep' \
    "$load" 'jsprof stack -hide' kill >"$tmp/deep"
[ "$(grep -c '^#[0-9]* *vm *linked' "$tmp/deep")" = 30 ] || wrong 'not all 30 functions'
! grep -q run_linked "$tmp/deep" || wrong '-hide shows the interpreter'
in_lldb "target create $tmp/forms" "$load" 'jsprof stack' >"$tmp/none"
grep -q 'error: no process and no core file' "$tmp/none" || wrong 'without a process'
! grep -h Traceback "$tmp/live" "$tmp/dead" "$tmp/deep" "$tmp/none" || wrong 'a traceback'
exit $bad
