# lib.sh - what the tests of the Lua binding share; sourced, not run.
#
# SPDX-License-Identifier: MIT

SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-capture.sh"
SCRIPTS=$SRCDIR/tests/lua/scripts

# In patterns of rows: a tab, and what comes before the next one.
t=$(printf '\t')
any="[^$t]*$t"

unset LUA_INIT LUA_PATH LUA_CPATH LUA_INIT_5_2 LUA_INIT_5_3 LUA_INIT_5_4 LUA_INIT_5_5

# One version of each kind; LUA_ONLY names others. Scripts that test what differs from version to
# version set VERSIONS to ALL_VERSIONS. tests/world/lua_versions.sh runs every script on the others.
# Lua 5.5 is of distributions from 2026 on: where there is none, no package is missing.
VERSIONS='5.4 jit'
ALL_VERSIONS='5.1 5.2 5.3 5.4 jit'
[ ! -x /usr/bin/lua5.5 ] || ALL_VERSIONS="$ALL_VERSIONS 5.5"

burn_lua() # a Lua function that takes so many seconds of CPU time
{
    cat <<'END'
local function burn(seconds)
  local x, start = 0, os.clock()
  repeat
    for i = 1, 20000 do x = x + i % 7 end
  until os.clock() - start > seconds
  return x
end
END
}

# Each Lua that the binding was built for runs what is given; a missing one is a skip.
each_version() # COMMAND...
{
    for VERSION in ${LUA_ONLY:-$VERSIONS}; do
        package=lua$VERSION
        LUA=/usr/bin/lua$VERSION
        if [ ! -x "$B/bin/jsprof-lua$VERSION" ] || [ ! -x "$LUA" ]; then
            MISSING="$MISSING $package lib$package-dev"
            continue
        fi
        UNDER=$VERSION
        MODULES=$B/lib/lua/$VERSION
        export LUA_CPATH="$MODULES/?.so"
        "$@"
    done
}

# The distribution's interpreter, with our module on its path; under the address
# sanitizer it needs that one's library first.
ASAN_LIBRARY=
if readelf -d "$B"/lib/lua/*/jsprof.so 2>/dev/null | grep -q libasan; then
    ASAN_LIBRARY=$(gcc -print-file-name=libasan.so)
    export ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=0:use_sigaltstack=0
fi
stock() # ARGS...
{
    LD_PRELOAD=$ASAN_LIBRARY "$LUA" "$@"
}

# Run a script recorded; the capture is $SCRATCH/cap.
record() # ARGS OF jsprof-lua...
{
    rm -f "$SCRATCH/cap"
    "$B/bin/jsprof-lua" --version "$VERSION" --profile-output="$SCRATCH/cap" "$@"
}

# Percent of all samples whose stack, as one line from leaf to root, matches. Their
# weights are of a busy machine: a thread that was not let run weighs most where it
# comes back, in a system call.
share() # REGEX
{
    stacks '' lines weights | awk -F '\t' -v re="$1" '
        { n++; rest = substr($0, length($1) + 1) "\t" }
        rest ~ re { of++ }
        END { printf "%.1f\n", n ? 100 * of / n : 0 }'
}

share_is() # LOW HIGH REGEX
{
    found=$(share "$3")
    echo "$3: $found, wanted $1 to $2"
    awk -v s="$found" -v low="$1" -v high="$2" 'BEGIN { exit !(s >= low && s <= high) }' ||
        { stacks '' lines weights | cut -f 1-12 | sort | uniq -c | sort -rn | head -n 3; return 1; }
}

# A program in C that embeds this Lua, as $SCRATCH/host.
build_host() # SOURCE
{
    host_flags=
    [ -n "$ASAN_LIBRARY" ] && host_flags=-fsanitize=address,undefined
    # shellcheck disable=SC2046
    ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall $host_flags -o "$SCRATCH/host" \
        -I"$SRCDIR/include" -I"$SRCDIR/bindings/lua" $(pkg-config --cflags "lua$VERSION") \
        "$SRCDIR/tests/lua/$1" "$B/lib/libjsprof-lua$VERSION.a" \
        "$B/lib/libjsprof.a" $(pkg-config --libs "lua$VERSION") -lpthread -ldl -lm
}
