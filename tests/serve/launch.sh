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

cat >spin.lua <<'END_OF_PROGRAM'
local function spin(n) local s = 0 for i = 1, n do s = s + i % 7 end return s end
local t = os.clock()
while os.clock() - t < 0.5 do spin(100000) end
print(arg[1], USER)
os.exit(3)
END_OF_PROGRAM
for lua in lua5.1 lua5.2 lua5.3 lua5.4 lua5.5 luajit; do
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
