#!/bin/sh
# callbacks.sh - each callback of an event loop is a mark, if asked for: as many of each as the
# program counts, as long as its own clock says, under the names that the program gives them.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

recorded() # SCRIPT
{
    rm -f "$SCRATCH/cap"
    timeout 60 "$LUA" "$SCRIPTS/$1" "$SCRATCH/cap" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    listed
}

listed()
{
    "$JSPROF_TOOL" list --messages --csv "$SCRATCH/cap" >"$SCRATCH/list" && cat "$SCRATCH/list" &&
        whole
}

# Each line of the program's output has a name, a number of calls and their nanoseconds, which
# begin after a mark and end before it. The last line is the loop, which lasts longer than all
# marks.
as_counted() # LIBRARY KIND FILE
{
    awk -F '[ ,"]+' -v kind="loop $1 $2" -v file="$3" '
        NR == FNR && $1 == "all" { all = $3; next }
        NR == FNR { calls[$1] = $2; spent[$1] = $3; n++; next }
        $1 == "mark" && $2 " " $3 " " $4 == kind {
            sum += $8
            ok += calls[$5] == $7 && $8 >= spent[$5] && index($6, file ":")
            print $5, $6, "calls", $7, "wanted", calls[$5], "ns", $8, "at least", spent[$5]
            marks++
        }
        END {
            print marks, "kinds, wanted", n, "of them right", ok, "sum", sum, "below", all
            exit !(n && marks == n && ok == n && sum <= all) }' "$SCRATCH/out" "$SCRATCH/list"
}

# All waits and callbacks together take no longer than the loop, and most of its time.
waits_are_marks() # LIBRARY
{
    awk -F '[ ,"]+' -v library="$1" '
        NR == FNR { all = $3; next }
        $1 == "mark" { sum += $3 == "poll" ? $6 : $8; waits += $3 == "poll" && $4 == library }
        END {
            print waits, "waits, sum", sum, "of", all
            exit !(waits && sum <= all && sum > all / 2) }' "$SCRATCH/out" "$SCRATCH/list"
}

not_asked()
{
    rm -f "$SCRATCH/cap"
    "$LUA" "$SCRIPTS/callbacks_luv.lua" "$SCRATCH/cap" off >"$SCRATCH/out" 2>&1 && listed &&
        ! grep -q '^mark' "$SCRATCH/list"
}

# The program requires luv while it is recorded already.
by_option()
{
    cat >"$SCRATCH/late.lua" <<'END'
local uv = require "luv"
local timer, left = uv.new_timer(), 5
local function late()
  left = left - 1
  if left == 0 then timer:close() end
end
timer:start(0, 1, late)
uv.run()
END
    record --profile-loop "$SCRATCH/late.lua" && listed &&
        grep -Eq '^mark,"loop","luv callback","late \([^"]*late.lua:3\)",5,' "$SCRATCH/list"
}

by_environment()
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_LOOP=1 LUA_INIT='require "jsprof"' "$LUA" "$SCRATCH/late.lua" &&
        listed &&
        grep -Eq '^mark,"loop","luv callback","late \([^"]*late.lua:3\)",5,' "$SCRATCH/list"
}

# A callback that raises an error through the loop, and callbacks after it.
after_an_error()
{
    cat >"$SCRATCH/error.lua" <<'END'
local cqueues, jsprof = require "cqueues", require "jsprof"
jsprof.start{ output = arg[1], loop = true }
local function bad() error "bad" end
local function good() cqueues.sleep(0.001) end
for _ = 1, 3 do
  local loop = cqueues.new()
  loop:wrap(bad)
  loop:wrap(good)
  assert(not loop:step())
  assert(loop:loop())
end
jsprof.stop()
END
    rm -f "$SCRATCH/cap"
    "$LUA" "$SCRATCH/error.lua" "$SCRATCH/cap" && listed &&
        grep -Eq '^mark,"loop","cqueues resume","bad \([^"]*error.lua:3\)",3,' "$SCRATCH/list" &&
        grep -Eq '^mark,"loop","cqueues resume","good \([^"]*error.lua:4\)",6,' "$SCRATCH/list"
}

# A library whose callback raised an error through it, and then callbacks deeper on the stack.
after_a_jump()
{
    cat >"$SCRATCH/jump.lua" <<'END'
local uv, lpeg, jsprof = require "luv", require "lpeg", require "jsprof"
jsprof.start{ output = arg[1], loop = true }
assert(not pcall(lpeg.match, lpeg.P(1) / function() error "bad" end, "a"))
local socket, n = uv.new_udp(), 0
socket:bind("127.0.0.1", 0)
local port = socket:getsockname().port
local function send() socket:send("x", "127.0.0.1", port) end
socket:recv_start(function()
  n = n + 1
  if n == 10 then socket:close() else send() end
end)
send()
uv.run()
jsprof.stop()
END
    rm -f "$SCRATCH/cap"
    "$LUA" "$SCRATCH/jump.lua" "$SCRATCH/cap" && listed &&
        grep -Eq '^mark,"loop","luv callback","[^"]*jump.lua:8\)",10,' "$SCRATCH/list"
}

# No frame of ours is between the loop and its callback.
# Between the loop and Lua. The marks themselves take time, which a sample may show.
nothing_of_ours()
{
    stacks >"$SCRATCH/stacks.out"
    head -n 5 "$SCRATCH/stacks.out"
    grep -Eq "(on_timer|on_read|in_coroutine) .*uv_run" "$SCRATCH/stacks.out" &&
        ! grep -Eq '(on_timer|on_read|in_coroutine) .*C:loop_' "$SCRATCH/stacks.out"
}

# More marks than the queue holds between two writes: the capture has the number of those that
# it does not hold.
counts_the_rest()
{
    cat >"$SCRATCH/many.lua" <<'END'
local uv, jsprof = require "luv", require "jsprof"
jsprof.start{ output = arg[1], loop = true }
local idle, n = uv.new_idle(), 0
idle:start(function() n = n + 1 if n == 60000 then idle:close() end end)
uv.run()
jsprof.stop()
END
    rm -f "$SCRATCH/cap"
    "$LUA" "$SCRATCH/many.lua" "$SCRATCH/cap" && listed || return 1
    kept=$(awk -F , '$3 == "\"luv callback\"" { print $5 }' "$SCRATCH/list")
    lost=$("$JSPROF_TOOL" info --csv "$SCRATCH/cap" | awk -F , '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == "marks_lost") at = i }
        NR == 2 { print $at }')
    echo "kept $kept lost $lost of 60000"
    [ "$lost" -gt 0 ] && [ $((kept + lost)) -ge 60000 ] && [ $((kept + lost)) -le 60100 ]
}

# A library of the program has a Lua of its own, of another version.
two_luas()
{
    cat >"$SCRATCH/other.c" <<'END'
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
int other(void)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    int failed = luaL_dostring(L, "assert(pcall(string.gsub, 'a', '.', function() end))");
    lua_close(L);
    return failed;
}
END
    cat >"$SCRATCH/two.c" <<'END'
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
int other(void);
int main(int argc, char **argv)
{
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    int failed = argc < 2 || luaL_dostring(L, argv[1]) || other() || other();
    return failed || luaL_dostring(L, "require('jsprof').stop()");
}
END
    # shellcheck disable=SC2046
    for when in lazy now; do
        ${CC:-cc} -shared -fPIC -Wl,-z,$when -o "$SCRATCH/libother.so" "$SCRATCH/other.c" \
            $(pkg-config --cflags --libs lua5.3) &&
            ${CC:-cc} -o "$SCRATCH/two" "$SCRATCH/two.c" -L"$SCRATCH" -Wl,-rpath,"$SCRATCH" \
                $(pkg-config --cflags --libs lua5.4) -lother &&
            "$SCRATCH/two" "require('jsprof').start{ output = '$SCRATCH/two.cap', loop = true }" ||
            return 1
    done
}

# A program with a stub of its own for a function of Lua, whose address it takes.
with_a_stub()
{
    cat >"$SCRATCH/stub.c" <<'END'
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
int main(int argc, char **argv)
{
    int (*volatile resume)(lua_State *, lua_State *, int, int *) = lua_resume;
    lua_State *L = luaL_newstate(), *co = lua_newthread(L);
    int n, failed;
    luaL_openlibs(L);
    failed = argc < 2 || luaL_dostring(L, argv[1]);
    for (int i = 0; i < 2 && !failed; i++) {
        lua_getglobal(co, "step");
        failed = i ? resume(co, L, 0, &n) : lua_resume(co, L, 0, &n);
    }
    return failed || luaL_dostring(L, "require('jsprof').stop()");
}
END
    rm -f "$SCRATCH/cap"
    # shellcheck disable=SC2046
    ${CC:-cc} -O1 -fno-pie -no-pie -Wl,-z,lazy -o "$SCRATCH/stub" "$SCRATCH/stub.c" \
        $(pkg-config --cflags --libs lua5.4) &&
        "$SCRATCH/stub" "function step() end
            require('jsprof').start{ output = '$SCRATCH/cap', loop = true }" && listed &&
        grep -Eq '^mark,"loop","stub resume","step .*",2,' "$SCRATCH/list"
}

# Children of a fork, while another thread makes marks without end. In some distributions luv does
# not run in a child, with or without us.
forks_without_us()
{
    cat >"$SCRATCH/forks.lua" <<END
local uv, jsprof = require "luv", require "jsprof"
local thread = uv.new_thread(function(file)
  local uv, jsprof = require "luv", require "jsprof"
  jsprof.start{ output = file .. ".thread", loop = true }
  local idle, n = uv.new_idle(), 0
  idle:start(function() n = n + 1 if n == 400000 then idle:close() end end)
  uv.run()
  jsprof.stop()
end, "$SCRATCH/forks.cap")
jsprof.start{ output = "$SCRATCH/forks.cap", loop = true }
local function child()
  local idle, n = uv.new_idle(), 0
  idle:start(function() n = n + 1 if n == 5 then idle:close() end end)
  uv.run()
  os.exit(0)
end
for _ = 1, 40 do assert(fork(child)) end
thread:join()
jsprof.stop()
END
    sed '/jsprof[.]st/d; s/, require "jsprof"//' "$SCRATCH/forks.lua" >"$SCRATCH/plain.lua" &&
        build_host plain_host.c && timeout 60 "$SCRATCH/host" "$SCRATCH/plain.lua" >/dev/null 2>&1
}

TRIED=0
one()
{
    export LUA_CPATH="$MODULES/?.so;;"
    if "$LUA" -e 'require "luv"' 2>/dev/null; then
        TRIED=$((TRIED + 1))
        check 'a program of luv' recorded callbacks_luv.lua
        check 'its callbacks are marks' as_counted luv callback callbacks_luv.lua
        check 'its waits are marks' waits_are_marks libuv
        check 'its stacks are as before' nothing_of_ours
        check 'without a request there are no marks' not_asked
        check 'the option of jsprof-lua asks' by_option
        check 'the environment asks' by_environment
        check 'marks that do not fit are counted' counts_the_rest
        "$LUA" -e 'require "lpeg"' 2>/dev/null &&
            check 'after an error through another library, too' after_a_jump
    fi
    if [ "$VERSION" = 5.4 ] && pkg-config --exists lua5.3 lua5.4; then
        check 'a library with another Lua runs on' two_luas
    fi
    if [ "$VERSION" = 5.4 ] && pkg-config --exists lua5.4; then
        "$LUA" -e 'require "luv"' 2>/dev/null && forks_without_us &&
            check 'children of a fork run on' timeout 60 "$SCRATCH/host" "$SCRATCH/forks.lua"
        check 'a program with a stub for lua_resume runs on' with_a_stub
    fi
    "$LUA" -e 'require "cqueues"' 2>/dev/null || return
    check 'a program of cqueues' recorded callbacks_cqueues.lua
    check 'its steps are marks' as_counted cqueues resume callbacks_cqueues.lua
    check 'its waits are marks' waits_are_marks cqueues
    check 'errors end callbacks, too' after_an_error
}

each_version one
[ $TRIED -gt 0 ] || MISSING="$MISSING lua-luv"
finish
