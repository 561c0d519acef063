#!/bin/sh
# version.sh - a Lua that is none of those we know is refused in one sentence, by its own
# name where it has one, and never crashes; nothing is left of what was asked for.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

VERSIONS=$ALL_VERSIONS
LAYOUT_FILES=$(cd "$SRCDIR/bindings/lua" && grep -l JSPROF_LUA_LAYOUT puc/*.c | sed 's/\.c$//')

# jsprof-lua with the shared library of its Lua, as LUA_ARCHIVE=no makes it.
build_shared()
{
    # shellcheck disable=SC2046
    ${CC:-cc} $([ -z "$ASAN_LIBRARY" ] || echo -fsanitize=address,undefined) \
        -o "$SCRATCH/shared" $(find "$B/obj/bindings/lua/$VERSION" -name '*.o' |
            grep -Ev '/(api_module|preload|launch)\.o$') \
        "$B/lib/libjsprof.a" -Wl,-E $(pkg-config --libs "lua$VERSION") -lpthread -ldl -lm &&
        ldd "$SCRATCH/shared" | grep liblua
}

records_shared()
{
    build_shared || return 1
    rm -f "$SCRATCH/cap"
    "$SCRATCH/shared" --profile-output="$SCRATCH/cap" "$SRCDIR/examples/lua/fib.lua" \
        "$([ "$VERSION" = jit ] && echo 38 || echo 31)" &&
        whole && share_is 80 100 'fib .*main chunk'
}

# A Lua that says that it is this release. The interpreter's own text would come first; this
# program has it from the library.
says() # RELEASE WANTED-REGEX
{
    echo "const char lua_ident[] = \"\$LuaVersion: Lua $1  Copyright (C) \$\";" \
        >"$SCRATCH/ident.c"
    ${CC:-cc} -shared -fPIC -o "$SCRATCH/ident.so" "$SCRATCH/ident.c" || return 1
    LD_PRELOAD="${ASAN_LIBRARY:+$ASAN_LIBRARY:}$SCRATCH/ident.so" "$SCRATCH/shared" \
        --profile-output="$SCRATCH/none.cap" -e 'print "ran"' >"$SCRATCH/out" 2>"$SCRATCH/err"
    says_status=$?
    cat "$SCRATCH/err"
    [ $says_status = 1 ] && head -n 1 "$SCRATCH/err" | grep -q "$2" &&
        [ ! -e "$SCRATCH/none.cap" ]
}

# Our module of this version, with one number of its layout changed.
build_changed() # SED-EXPRESSION
{
    rm -rf "$SCRATCH/changed" && mkdir -p "$SCRATCH/changed/puc"
    cat "$SRCDIR/bindings/lua/puc/layout.h" "$SRCDIR/bindings/lua/puc/layout_$NUMBER.h" |
        sed '/#include "puc.layout.h"/d' >"$SCRATCH/same.h"
    sed "$1" "$SCRATCH/same.h" >"$SCRATCH/changed.h"
    cmp -s "$SCRATCH/same.h" "$SCRATCH/changed.h" && { echo "$1 changes nothing"; return 1; }
    changed_others=
    for changed_source in $(cd "$SRCDIR/bindings/lua" && echo *.c puc/*.c calls/*.c); do
        changed_name=${changed_source%.c}
        echo $LAYOUT_FILES main fatal_signals launch api_linked | tr ' ' '\n' |
            grep -qxF "$changed_name" ||
            changed_others="$changed_others $B/obj/bindings/lua/$VERSION/$changed_name.o"
    done
    changed_flags=-O1
    [ -n "$ASAN_LIBRARY" ] && changed_flags=-fsanitize=address,undefined
    for changed_name in $LAYOUT_FILES; do
        # shellcheck disable=SC2046
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -fPIC $changed_flags -I"$SRCDIR/include" \
            -I"$SRCDIR/src" -I"$SRCDIR/bindings/lua" $(pkg-config --cflags "lua$VERSION") \
            -DJSPROF_LUA_LAYOUT="\"$SCRATCH/changed.h\"" -c \
            -o "$SCRATCH/changed/$changed_name.o" "$SRCDIR/bindings/lua/$changed_name.c" || return 1
    done
    # shellcheck disable=SC2086
    ${CC:-cc} -shared $changed_flags -o "$SCRATCH/changed/jsprof.so" "$SCRATCH/changed/puc"/*.o \
        $changed_others "$B/lib/libjsprof.a" -lpthread -ldl -lm
}

# Beside what lies there from before.
refuses_start()
{
    rm -f "$SCRATCH/new.cap"
    echo before >"$SCRATCH/old.cap"
    for refuses_file in new old; do
        LUA_CPATH="$SCRATCH/changed/?.so" stock -e "
            local jsprof = require 'jsprof'
            jsprof.start{ output = '$SCRATCH/$refuses_file.cap' }" >"$SCRATCH/out" 2>"$SCRATCH/err"
        refuses_status=$?
        head -n 1 "$SCRATCH/err"
        [ $refuses_status = 1 ] || { echo "status $refuses_status"; return 1; }
        head -n 1 "$SCRATCH/err" | grep -q 'this Lua is built in a way that jsprof does not know' ||
            return 1
    done
    [ ! -e "$SCRATCH/new.cap" ] && [ "$(cat "$SCRATCH/old.cap")" = before ]
}

changed() # SED-EXPRESSION
{
    build_changed "$1" && refuses_start
}

one()
{
    check 'jsprof-lua that is linked with the shared library records' records_shared
    [ "$VERSION" = jit ] && return
    NUMBER=$(echo "$VERSION" | tr -d .)
    check 'a version to come is refused by its name' says 5.6.0 \
        "built for Lua $VERSION and runs in Lua 5.6.0"
    case $VERSION in
    5.4)
        for release in 5.4.0 5.4.1 5.4.2; do
            check "Lua $release is refused by its name" says $release \
                "Lua $release is built otherwise than later releases"
        done
        check 'a state that ends elsewhere' changed 's/\.base_ci = 96/.base_ci = 88/'
        check 'calls whose kind is in another bit' changed \
            's/\.fresh_bit = 1 << 2/.fresh_bit = 1 << 9/'
        check 'a state that jumps elsewhere' changed 's/\.error_jmp = 88/.error_jmp = 72/'
        check 'a prototype of another shape' changed 's/\.source = 112/.source = 104/'
        ;;
    5.1) check 'calls of another size' changed 's/\.ci_bytes = 40/.ci_bytes = 48/' ;;
    5.5)
        check 'a main coroutine in another place' changed \
            's/\.main_thread = 1416/.main_thread = 264/'
        check 'long strings of another shape' changed 's/\.long_elsewhere = 1/.long_elsewhere = 0/'
        ;;
    esac
}

each_version one
finish
