#!/bin/sh
# debugger.sh - `bt` of a stack of 60 mixed frames in gdb: of a process, and of its core file. Each
# figure is the first `bt` of a gdb of its own, which has the symbols but nothing of the script yet.
#
# SPDX-License-Identifier: MIT
#
#     B=build CC=gcc debugger.sh WORK
set -eu
work=$1 rounds=9 top=$(cd "$(dirname "$0")/../.." && pwd)
[ -z "${QUICK:-}" ] || rounds=3
command -v gdb >/dev/null || { printf 'note\t%s\n' 'debugger: needs gdb'; exit 1; }
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -g -I"$top/include" -o "$work/forms" \
    "$top/tests/gdb/forms.c" "$B/lib/libjsprof.a" -pthread
cat >"$work/time.py" <<'EOF'
import re
import time
import gdb
gdb.execute('info line main', to_string=True)
begin = time.monotonic()
shown = gdb.execute('bt', to_string=True)
frames = re.findall(r'^ *#\d+ |^linked\d+ \(\) at', shown, re.M)
print('took', time.monotonic() - begin, len(frames))
EOF
in_gdb() # ARGUMENT...
{
    gdb -nx -q -batch -iex 'set auto-load no' -iex 'set debuginfod enabled off' \
        -ex 'set startup-with-shell off' -ex "source $top/debugger/jsprof-gdb.py" "$@" 2>&1
}

row() # NAME ARGUMENT...
{
    name=$1
    shift
    for i in $(seq $rounds); do in_gdb "$@"; done | awk '$1 == "took" { print $2, $3 }' |
        sort -n >"$work/took"
    awk -v name="$name" -v rounds=$rounds '{ s[NR] = $1; if ($2 < 60) bad = 1 }
        END {
            if (NR != rounds || bad) exit 1
            m = s[int((NR + 1) / 2)]
            printf "row\t%s\t<= 0.3 s\t%.3f s (%.3f..%.3f)\t-\t%s\n", name, m, s[1], s[NR],
                m <= 0.3 ? "yes" : "NO"
        }' "$work/took"
}

in_gdb -ex 'break forms_ready' -ex run -ex "gcore $work/core" -ex kill \
    --args "$work/forms" deep >"$work/core.out"
row 'gdb: bt of 60 mixed frames' -ex 'break forms_ready' -ex run \
    -ex "source $work/time.py" -ex kill --args "$work/forms" deep
row '  of a core file' -ex "core $work/core" -ex "source $work/time.py" "$work/forms"
