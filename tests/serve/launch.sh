#!/bin/sh
# serve/launch.sh - jsprof record -- PROGRAM: a host, Lua, LuaJIT and GJS are recorded, the exit
# status is the program's.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
cat >spin.lark <<'END_OF_PROGRAM'
fn spin(n) {
    let i = 0;
    while i < n { i = i + 1; }
    return i;
}
let r = 0;
while r < 60 { spin(1000000); r = r + 1; }
print("done");
END_OF_PROGRAM
run record -o a.cap --report -- "$B/bin/lark" spin.lark
is_rc 0
has done
has 'spin (spin.lark:1)'
says 'a.cap: '
is_whole a.cap
run record --quiet --hz 200 --clock wall -o w.cap -- "$B/bin/lark" spin.lark
is_rc 0
! grep -q . err || wrong 'is not quiet'
run info w.cap
has 'wall'

# One that ends before it has begun to record.
run record -o none.cap -- "$B/bin/lark" missing.lark
is_rc 1
says 'missing.lark: No such file'
says 'lark recorded nothing: it ended with status 1 before it began to'
[ ! -e none.cap ] || wrong 'leaves a file'

cat >spin.lua <<'END_OF_PROGRAM'
local function spin(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local t = os.clock()
while os.clock() - t < 0.5 do spin(100000) end
print(arg[1], USER)
os.exit(3)
END_OF_PROGRAM
for lua in lua5.4 luajit; do
    version=${lua#lua}
    command -v $lua >/dev/null && [ -f "$B/lib/lua/$version/jsprof.so" ] || continue
    rm -f lua.cap
    LUA_INIT='USER = "mine"' run record -o lua.cap --report -- $lua spin.lua word
    is_rc 3
    has "$(printf 'word\tmine')"
    has 'spin (spin.lua:1)'
    tried=1
done
[ "${tried:-}" ] || { echo 'SKIP: needs a Lua interpreter and the module for it'; exit 77; }

if [ -x "$B/bin/jsprof-gjs" ] && command -v gjs >/dev/null; then
    cat >spin.js <<'END_OF_PROGRAM'
#!/usr/bin/env gjs
function spin(n) { let s = 0; for (let i = 0; i < n; i++) s += i % 7; return s; }
const end = Date.now() + 500;
while (Date.now() < end) spin(100000);
print(ARGV[0]);
END_OF_PROGRAM
    chmod +x spin.js
    for words in 'gjs spin.js word' './spin.js word'; do
        rm -f gjs.cap
        # shellcheck disable=SC2086
        run record -o gjs.cap --report -- $words
        is_rc 0
        has word
        has 'spin.js:2:1' # the column is counted from 0 or from 1
    done
fi

# Tasks, allocations and stalls, if they are asked for; and a line for what there is not.
asked() # FUNCTION COMMAND...
{
    function=$1
    shift
    rm -f asked.cap
    run record --tasks --alloc -o asked.cap -- "$@"
    is_rc 0
    run loop --csv asked.cap
    is_rc 0
    grep -q ',[1-9]' out || wrong 'has no runs of tasks'
    run info asked.cap
    has ', one in each 512 KiB'
    run record --stalls 16ms --clock wall --report -o asked.cap -- "$@"
    is_rc 0
    has 'took 16.0 ms or longer'
    has "$function"
    run info asked.cap
    has 'only turns of a loop that took longer than 16'
}
cat >turns.lark <<'END_OF_PROGRAM'
fn spin(n) { let i = 0; while i < n { i = i + 1; } return i; }
fn turn(n) { spin(n); return nil; }
after(1, turn, 10);
after(5, turn, 30000000);
END_OF_PROGRAM
asked spin "$B/bin/lark" turns.lark
if command -v lua5.4 >/dev/null && lua5.4 -e 'require "luv"' 2>/dev/null; then
    cat >turns.lua <<'END_OF_PROGRAM'
local uv = require "luv"
local function spin(s) local t = uv.hrtime() while uv.hrtime() - t < s * 1e9 do end end
for i = 1, 3 do
    local timer = uv.new_timer()
    timer:start(5 * i, 0, function() spin(i == 2 and 0.3 or 0) timer:close() end)
end
uv.run()
END_OF_PROGRAM
    asked spin lua5.4 turns.lua
fi
if [ -x "$B/bin/jsprof-gjs" ] && command -v gjs >/dev/null; then
    cat >turns.js <<'END_OF_PROGRAM'
function spin(ms) { const end = Date.now() + ms; while (Date.now() < end); }
const GLib = imports.gi.GLib;
const loop = new GLib.MainLoop(null, false);
let n = 0;
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 5, () => {
    spin(++n === 2 ? 300 : 0);
    if (n === 3) loop.quit();
    return true;
});
loop.run();
END_OF_PROGRAM
    asked spin gjs turns.js
fi
if [ -f "$B/lib/jsprof/libjsprof-native.so" ] &&
    ! readelf -d "$B/lib/jsprof/libjsprof-native.so" | grep -Eq 'lib[atu]+b?san'; then
    run record --tasks --alloc -o lacks.cap -- true
    is_rc 0
    says 'lacks.cap: true reported no tasks and no turns of a loop'
    says 'lacks.cap: true samples no allocations'
    run record --stalls 16ms --report -o lacks.cap -- true
    is_rc 0
    says 'lacks.cap: true reported no turn of a loop that took so long'
    run record --report -o lacks.cap -- true # too short for a sample, which is no failure
    is_rc 0

    # A file that can not be written, before the program runs; a full disk; a device stays one.
    for output in . /nowhere/x.cap; do
        run record -o $output -- sh -c 'echo ran'
        is_rc 1
        [ "$(wc -l <err)" = 1 ] && [ ! -s out ] || wrong 'is not one line alone'
    done
    mkdir links
    ln -s /dev/full links/full.cap
    run record -o links/full.cap -- sh -c 'exec sh -c :'
    is_rc 1
    says 'links/full.cap: nothing could be written into it'
    [ -h links/full.cap ] && [ -c /dev/full ] || wrong 'replaces a device'
    run record -o missing.cap -- sh -c 'sleep 0.1; kill -KILL $$'
    is_rc 137
    [ "$(wc -l <err)" -ge 1 ] || wrong 'does not say that the end is missing'
    run record sleep 1
    is_rc 2
    says '"sleep" is not the number of a process; a program goes after --'

    # It reads our standard input. Who ends us ends it.
    echo words >words
    run record -o in.cap -- cat <words
    is_rc 0
    has words
    for signal in TERM HUP; do
        rm -f ended.cap told
        "$jsprof" record -o ended.cap -- sh -c 'echo $$ >told; exec sleep 60' 2>err &
        pid=$!
        until [ -s told ] && [ -s ended.cap ]; do sleep 0.05; done
        kill -$signal $pid
        rc=0
        wait $pid || rc=$?
        ran="jsprof record, ended by $signal"
        [ $rc = 143 ] || [ $rc = 129 ] || wrong "exit status $rc"
        says 'ended.cap: '
        ! kill -0 "$(cat told)" 2>/dev/null || wrong 'the program goes on'
    done
fi

# Under nohup a hangup ends neither the program nor the report after it, which waits here for a
# reader: the pipe is full.
mkfifo pipe
exec 3<>pipe
timeout 1 sh -c 'yes | cat >&3' || :
grep -v print spin.lark >quiet.lark
(trap '' HUP; exec "$jsprof" record -o hung.cap --report -- "$B/bin/lark" quiet.lark >&3 2>err) &
pid=$!
until [ -s hung.cap ]; do sleep 0.05; done
kill -HUP $pid || :
tries=0
until grep -q 'hung.cap: ' err; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] && kill -0 $pid || break
    sleep 0.05
done
kill -HUP $pid || :
cat <&3 >out &
cat=$!
rc=0
wait $pid || rc=$?
ran='jsprof record under nohup'
is_rc 0
tries=0
until [ $rc != 0 ] || grep -qF 'spin (quiet.lark:1)' out; do
    tries=$((tries + 1))
    [ $tries -lt 1200 ] || { wrong 'has no report'; break; }
    sleep 0.05
done
kill $cat
exec 3>&-

# What fails.
run record -o none.cap -- ./no-such-program
is_rc 127
run record -o none.cap -- ./spin.lua
is_rc 126
run record -o killed.cap -- sh -c 'kill -TERM $$'
is_rc 143
[ ! -e none.cap ] || wrong 'leaves a capture of nothing'
run record --seconds 1 -o none.cap -- true
is_rc 2
run record -o none.cap --
is_rc 2
exit $bad
