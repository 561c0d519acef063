#!/bin/sh
# preload.sh - a program without a line of code for us: JSPROF in the environment is enough where
# it requires the module, or where the module is preloaded.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

{ burn_lua && cat; } >"$SCRATCH/plain.lua" <<'END'
burn(0.3)
os.execute("true")
print("ran")
END

# The program does what it does; the capture, or none, is $SCRATCH/cap.
ran() # [VARIABLE=VALUE...]
{
    rm -f "$SCRATCH/cap"
    (cd "$SCRATCH" && env LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" "$@" \
        ./host "$SCRATCH/plain.lua") >"$SCRATCH/out" 2>"$SCRATCH/err"
    ran_status=$?
    cat "$SCRATCH/err"
    [ $ran_status = 0 ] && [ "$(cat "$SCRATCH/out")" = ran ]
}

recorded() # VARIABLE=VALUE...
{
    ran "$@" && [ ! -s "$SCRATCH/err" ] && whole
}

silent()
{
    ran && [ ! -s "$SCRATCH/err" ] && [ ! -e "$SCRATCH/cap" ]
}

refused() # REGEX VARIABLE=VALUE...
{
    refused_wanted=$1
    shift
    ran "$@" && one_line "$SCRATCH/err" "$refused_wanted" && [ ! -e "$SCRATCH/cap" ]
}

other_version()
{
    for other in $VERSIONS; do
        [ "$other" != "$VERSION" ] && [ -f "$B/lib/lua/$other/jsprof.so" ] || continue
        refused "jsprof: nothing is recorded: .* of Lua $other, and the program has Lua $VERSION" \
            LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$B/lib/lua/$other/jsprof.so" \
            JSPROF="$SCRATCH/cap" || return 1
    done
}

# The distribution's interpreters are linked with their Lua: a preloaded module is not called there.
own_lua() # PROGRAM REGEX
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
        "$1" "$SCRATCH/plain.lua" >"$SCRATCH/out" 2>"$SCRATCH/err" || return 1
    [ "$(cat "$SCRATCH/out")" = ran ] && [ ! -e "$SCRATCH/cap" ] &&
        one_line "$SCRATCH/err" "jsprof: nothing is recorded: Lua(JIT)? [0-9.]+ is linked into $2"
}

own_lua_of_a_host()
{
    # shellcheck disable=SC2046
    ${CC:-cc} -o "$SCRATCH/own-lua" $(pkg-config --cflags "lua$VERSION") \
        "$SRCDIR/tests/lua/plain_host.c" -Wl,-Bstatic \
        $(pkg-config --libs-only-l "lua$VERSION" | sed 's/-lm//') -Wl,-Bdynamic -lm -ldl || return 1
    own_lua "$SCRATCH/own-lua" 'own-lua itself, where a preloaded module does not reach it$'
}

# Lua comes when the preloaded module is already there.
recorded_late()
{
    # shellcheck disable=SC2046
    ${CC:-cc} -shared -fPIC -Dmain=plain_main -o "$SCRATCH/late.so" \
        $(pkg-config --cflags "lua$VERSION") "$SRCDIR/tests/lua/plain_host.c" \
        $(pkg-config --libs "lua$VERSION") &&
        ${CC:-cc} -o "$SCRATCH/late" "$SRCDIR/tests/lua/late_host.c" -ldl || return 1
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall \
        LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
        "$SCRATCH/late" "$SCRATCH/late.so" "$SCRATCH/plain.lua" >"$SCRATCH/out" &&
        [ "$(cat "$SCRATCH/out")" = ran ] && whole
}

full_disk()
{
    ran JSPROF=/dev/full &&
        one_line "$SCRATCH/err" 'jsprof: the capture is not complete: no space left on device'
}

# A capture on standard output would mix with what the program prints.
printed_is_refused()
{
    for printed in - /dev/stdout; do
        for printed_by in --profile-output JSPROF; do
            printed_option=--profile-mode=sample
            [ $printed_by = JSPROF ] || printed_option=--profile-output=$printed
            (cd "$SCRATCH" && JSPROF=$printed "$B/bin/jsprof-lua" --version "$VERSION" \
                "$printed_option" plain.lua) >"$SCRATCH/out" 2>"$SCRATCH/err"
            [ $? = 2 ] && [ ! -s "$SCRATCH/out" ] && one_line "$SCRATCH/err" \
                "^jsprof-lua: $printed_by=$printed: the program prints there; " || return 1
        done
        ran JSPROF=$printed && one_line "$SCRATCH/err" \
            "JSPROF=$printed: the program prints there; " || return 1
        stock -e "require('jsprof').start{output = '$printed'}" >"$SCRATCH/out" 2>"$SCRATCH/err" &&
            return 1
        grep "jsprof.start: output=$printed: the program prints there; " "$SCRATCH/err" || return 1
    done
    [ ! -e "$SCRATCH/-" ]
}

one_by_one()
{
    # shellcheck disable=SC2046
    ${CC:-cc} -DONE_BY_ONE -o "$SCRATCH/host" $(pkg-config --cflags "lua$VERSION") \
        "$SRCDIR/tests/lua/plain_host.c" $(pkg-config --libs "lua$VERSION") &&
        recorded JSPROF="$SCRATCH/cap" JSPROF_CLOCK=wall
}

build_plugin() # VERSION
{
    # shellcheck disable=SC2046
    ${CC:-cc} -shared -fPIC -Dmain=plain_main -o "$SCRATCH/plugin$1.so" \
        $(pkg-config --cflags "lua$1") "$SRCDIR/tests/lua/plain_host.c" \
        $(pkg-config --libs "lua$1")
}

# Each plugin has its Lua in a scope of its own, where the module does not see it.
plugins() # COUNT VARIABLE=VALUE VERSION...
{
    plugins_n=$1 plugins_set=$2
    shift 2
    ${CC:-cc} -DSCOPE=RTLD_LOCAL -o "$SCRATCH/plugins" "$SRCDIR/tests/lua/late_host.c" -ldl ||
        return 1
    rm -f "$SCRATCH/cap"
    set -- $(printf "$SCRATCH/plugin%s.so " "$@")
    env "$plugins_set" LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$MODULES/jsprof.so" \
        "$SCRATCH/plugins" "$@" "$SCRATCH/plain.lua" >"$SCRATCH/out" 2>"$SCRATCH/err"
    plugins_status=$?
    echo "status $plugins_status"
    cat "$SCRATCH/err"
    [ $plugins_status = 0 ] && [ "$(grep -c ran "$SCRATCH/out")" = "$plugins_n" ]
}

recorded_local()
{
    build_plugin "$VERSION" && plugins 1 JSPROF= "$VERSION" && [ ! -s "$SCRATCH/err" ] &&
        plugins 1 JSPROF="$SCRATCH/cap" "$VERSION" && [ ! -s "$SCRATCH/err" ] && whole
}

# LuaJIT's library has no versions of symbols: beside another Lua it does not work.
two_luas()
{
    for other in 5.1 5.2 5.3 5.4; do
        [ "$VERSION" != jit ] && [ "$other" != "$VERSION" ] &&
            [ -f "$B/lib/lua/$other/jsprof.so" ] || continue
        build_plugin "$other" || return 1
        for two_order in "$VERSION $other" "$other $VERSION"; do
            # shellcheck disable=SC2086
            plugins 2 JSPROF="$SCRATCH/cap" $two_order && whole &&
                one_line "$SCRATCH/err" 'jsprof: nothing is recorded: .* another Lua' || return 1
        done
        return
    done
}

required() # INTERPRETER'S ARGS...
{
    rm -f "$SCRATCH/cap"
    JSPROF=$SCRATCH/cap JSPROF_CLOCK=wall stock "$@" >"$SCRATCH/out" 2>&1 ||
        { cat "$SCRATCH/out"; return 1; }
    whole
}

seen()
{
    share_is 70 100 "(^|$t)burn .*plain.lua:1. :[0-9]+${t}main chunk "
}

# All variables that the library knows mean the same here, to the module and to jsprof-lua.
asked() # COMMAND...
{
    { burn_lua && cat; } >"$SCRATCH/deep.lua" <<'END'
local function inner() return (burn(0.001)) end
local function deep(n) if n == 0 then return burn(0.2) end return 1 + deep(n - 1) end
for _ = 1, 7 do inner() end
deep(150)
END
    rm -f "$SCRATCH/cap"
    env JSPROF_DEPTH=64 JSPROF_SOURCE=looker JSPROF_CALLS=count,edges JSPROF="$SCRATCH/cap" "$@" \
        "$SCRATCH/deep.lua" >"$SCRATCH/out" 2>&1 && whole &&
        "$JSPROF_TOOL" info "$SCRATCH/cap" >"$SCRATCH/info" &&
        "$JSPROF_TOOL" calls --csv "$SCRATCH/cap" >"$SCRATCH/calls" || {
        cat "$SCRATCH/out"
        return 1
    }
    cat "$SCRATCH/info" "$SCRATCH/calls"
    grep -Eq '^ *source +looker' "$SCRATCH/info" && grep -q 'frames cut [0-9]' "$SCRATCH/info" &&
        grep -q '^"inner","[^"]*deep.lua",[0-9]*,vm,7,' "$SCRATCH/calls"
}

one()
{
    check 'a program that requires the module is recorded' required -l jsprof "$SCRATCH/plain.lua"
    check 'its functions are seen' seen
    build_host plain_host.c || { fail 'a program'; return; }
    check 'preloaded, nothing happens where nobody asks' silent
    check 'a program that knows nothing of it is recorded' recorded JSPROF="$SCRATCH/cap" \
        JSPROF_CLOCK=wall
    check 'its functions are seen, too' seen
    check 'so is one that loads its Lua later' recorded_late
    check 'its functions are seen, too' seen
    check 'a plugin with a Lua of its own is recorded' recorded_local
    check 'its functions are seen, too' seen
    check 'so is one of two plugins, each with another Lua' two_luas
    check 'by a path of where it was started' recorded JSPROF=cap
    check 'a wrong value is told in a line, and the program goes on' refused \
        'jsprof: nothing is recorded: .*JSPROF_HZ=x: a whole number' \
        JSPROF="$SCRATCH/cap" JSPROF_HZ=x
    check 'so is a folder that is not there' refused 'jsprof: nothing is recorded: .*/no/where' \
        JSPROF=/no/where
    check 'and a module of another Lua' other_version
    check 'a full disk is told in a line, and the program goes on' full_disk
    check 'so is the output of the program itself' printed_is_refused
    check 'a program that opens the libraries of Lua one by one is recorded' one_by_one
    check 'its functions are seen, too' seen
    check 'an interpreter that is its own Lua is refused in a line' own_lua "$LUA" \
        "$(basename "$LUA") itself, .*; an interpreter loads it with LUA_INIT="
    check 'so is another program' own_lua_of_a_host
    check 'an interpreter loads it so, and variables ask for calls, depth and a looker' asked env \
        LUA_INIT='require "jsprof"' LD_PRELOAD="$ASAN_LIBRARY" "$LUA"
    check 'jsprof-lua reads them, too' asked "$B/bin/jsprof-lua" --version "$VERSION"
}

each_version one
finish
