#!/bin/sh
# serve/children.sh - jsprof record --children: what a shell, a Lua and a GJS program start is
# recorded as if it had been started alone: Lua, GJS and Lark functions, and the C stacks of
# other programs.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
if readelf -d "$B/lib/jsprof/libjsprof-native.so" | grep -Eq 'lib[atu]+b?san'; then
    echo 'SKIP: a sanitizer can not be loaded into other programs'
    exit 77
fi

# Each works for 0.2 s of CPU time in a function of its own.
cat >host.c <<'END_OF_PROGRAM'
#include <time.h>
static volatile unsigned long sum;
__attribute__((noinline)) static void in_c(void)
{
    while (clock() < 200000)
        for (unsigned i = 0; i < 100000; i++)
            sum += i;
    sum++;
}
int main(void)
{
    in_c();
    return 0;
}
END_OF_PROGRAM
"${CC:-gcc}" -O1 -g -o host host.c
cat >child.lua <<'END_OF_PROGRAM'
local function in_lua(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
while os.clock() < 0.2 do in_lua(100000) end
END_OF_PROGRAM
cat >child.lark <<'END_OF_PROGRAM'
fn in_lark(n) { let i = 0; while i < n { i = i + 1; } return i; }
let r = 0;
while r < 25 { in_lark(1000000); r = r + 1; }
END_OF_PROGRAM
cat >child.js <<'END_OF_PROGRAM'
function in_js(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
for (let r = 0; r < 200; r++) in_js(1000000);
undefined; // or the number is the exit status
END_OF_PROGRAM

lua= has_lua= has_gjs=
for name in lua5.4 luajit; do
    command -v $name >/dev/null && [ -f "$B/lib/lua/${name#lua}/jsprof.so" ] || continue
    lua="$lua $name"
done
for name in $lua; do has_lua=$name; done
[ ! -x "$B/bin/jsprof-gjs" ] || has_gjs=$(command -v gjs || :)
cat >all.sh <<END_OF_PROGRAM
./host
"$B/bin/lark" child.lark
for name in $lua; do \$name child.lua; done
[ ! "$has_gjs" ] || gjs child.js
END_OF_PROGRAM

# Record it into one capture, which has all of them.
merged() # PROGRAM...
{
    rm -f a.cap*
    run record --children --merge -o a.cap -- "$@"
    is_rc 0
    says 'a.cap: '
    [ "$(echo a.cap*)" = a.cap ] || { ls a.cap* >out; wrong 'leaves other files'; }
    is_whole a.cap
    run report --limit 0 --csv a.cap
    grep -q '^"in_lark (child.lark:1)",' out || wrong 'has no function of Lark'
    [ ! "$lua" ] || grep -q '^"in_lua (child.lua:1)",' out || wrong 'has no function of Lua'
    [ ! "$has_gjs" ] || grep -q '^"in_js ([^"]*child.js:1:' out || wrong 'has no function of GJS'
    run report --native --limit 0 --csv a.cap
    grep -q '^"in_c",' out || wrong 'has no function of C'
}

# And into several: how many is known.
family() # PROGRAM...
{
    merged "$@"
    rm -f a.cap*
    run record --children --quiet -o a.cap -- "$@"
    is_rc 0
    for f in a.cap a.cap.*; do
        is_whole "$f"
    done
}
n_all=2 # host and lark
for name in $lua; do n_all=$((n_all + 1)); done
[ ! "$has_gjs" ] || n_all=$((n_all + 1))
are() # N: so many captures of children; some shells execute their last program in their place
{
    n=$(find . -name 'a.cap.*' | wc -l)
    [ "$n" -ge "$1" ] && [ "$n" -le $(($1 + 2)) ] || { ls a.cap* >out; wrong "not $1 children"; }
}

# Of a shell, and of one that ends before its children.
family sh all.sh
are $n_all
# What is said of the joined capture names it, not a file of the command's own.
cat >two.sh <<END_OF_PROGRAM
"$B/bin/lark" child.lark
"$B/bin/lark" child.lark
END_OF_PROGRAM
JSPROF_CALLS=count
export JSPROF_CALLS
run record --children --merge -o a.cap -- sh two.sh
unset JSPROF_CALLS
is_rc 0
says 'jsprof: a.cap: '
says ' skipped: an earlier capture has the same'
! grep -q 'a\.cap\.' err || wrong 'names another file'
run record --children --merge --quiet -o b.cap -- sh -c 'sh all.sh & wait'
is_rc 0
run report --limit 0 b.cap
has in_lark
rm -f orphan.done
cat >orphan.sh <<END_OF_PROGRAM
(sleep 1; "$B/bin/lark" child.lark; : >orphan.done) &
exec ./host
END_OF_PROGRAM
run record --children --quiet -o c.cap -- sh orphan.sh
is_rc 0
until [ -e orphan.done ]; do sleep 0.05; done
is_whole c.cap
run report --native --limit 0 c.cap
has in_c
! grep -q in_lark out || wrong 'has a function of another process'

# Of a Lua program, by both functions that start one.
if [ "$has_lua" ]; then
    cat >parent.lua <<'END_OF_PROGRAM'
os.execute "sh all.sh"
io.popen("./host"):close()
END_OF_PROGRAM
    family $has_lua parent.lua
    are $((n_all + 2)) # the shell, and one more host
    # In place of a shell it is the recording's program.
    run record --report -o d.cap -- sh -c "exec $has_lua child.lua"
    is_rc 0
    has 'in_lua (child.lua:1)'
    is_whole d.cap
fi
if [ "$has_gjs" ]; then
    cat >parent.js <<'END_OF_PROGRAM'
const GLib = imports.gi.GLib;
GLib.spawn_command_line_sync('sh all.sh');
END_OF_PROGRAM
    merged gjs parent.js
    run record --report -o d.cap -- env WORD=1 gjs child.js
    is_rc 0
    has 'in_js ('
    is_whole d.cap
fi
exit $bad
