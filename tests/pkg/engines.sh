#!/bin/sh
# engines.sh - make prints which SpiderMonkey binding it builds and why it skips one, and builds
# several next to each other; manuals name the versions that the build files know. A pkg-config
# of our own plays the machine.
#
# SPDX-License-Identifier: MIT
set -u
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
. "$SRCDIR/tests/lib-capture.sh"
cd "$SRCDIR" || exit 1
mkdir "$SCRATCH/bin"

cat >"$SCRATCH/bin/pkg-config" <<'END'
#!/bin/sh
for name; do :; done
grep -qx "$name" "$KNOWN" || exit 1
case $1 in
--print-requires-private) cat "$KNOWN.gjs" ;;
--modversion) echo 1.90.1 ;;
esac
END
chmod +x "$SCRATCH/bin/pkg-config"

machine() # WHAT-GJS-REQUIRES PACKAGES...
{
    echo "$1" >"$SCRATCH/known.gjs"
    shift
    printf '%s\n' "$@" >"$SCRATCH/known"
}

asked() # MAKE-ARGS...: leaves what it prints in said
{
    KNOWN=$SCRATCH/known PATH=$SCRATCH/bin:$PATH make LUA=no B="$SCRATCH/b" "$@" \
        >"$SCRATCH/said" 2>&1
}

says() # LINE MAKE-ARGS...
{
    says_line=$1
    shift
    asked "$@" mozjs-says
    check "it says: $says_line" grep -qxF "  SpiderMonkey: $says_line" "$SCRATCH/said"
}

names() # FILE VERSIONS...
{
    names_file=$1
    shift
    for names_version; do
        head -n 30 "$names_file" | grep -q "[^0-9.]$names_version\\([^0-9.]\|[.] \|[.]\?\$\)" ||
            { echo "$names_file does not name $names_version"; return 1; }
    done
}

engines=$(sed -n 's/^MOZJS_KNOWN = //p' bindings/mozjs/build.mk)
luas=$(sed -n 's/^LUA_KNOWN = //p' bindings/lua/build.mk)
check 'the build files have lists' [ "${engines%% *} ${luas##* }" = '102 jit' ]
for file in docs/man/jsprof-gjs.1 bindings/mozjs/README.md; do
    check "$file names each SpiderMonkey" names $file $engines
done
for file in docs/man/jsprof-lua.1 bindings/lua/README.md; do
    check "$file names each Lua" names $file $luas
done

machine nothing nothing
says "not built: no libmozjs-VERSION-dev of $engines" CXX=sh
says 'not built: no C++ compiler (no-such-c++)' CXX=no-such-c++
says 'not built: MOZJS=no' MOZJS=no
machine nothing mozjs-128
says '128; GJS: not built: no libgjs-dev for it' CXX=sh
machine mozjs-102 mozjs-128 gjs-1.0
says '128; GJS: not built: no libgjs-dev for it' CXX=sh
machine mozjs-140 mozjs-128 mozjs-140 gjs-1.0
says '128 140; GJS: of 140' CXX=sh

asked CXX=sh -n all
for name in lib/libjsprof-mozjs-128.a lib/libjsprof-mozjs-140.a bin/mozjs-embedded-128 \
    bin/mozjs-embedded-140 bin/gjs-console; do
    check "it builds $name" grep -q "/b/$name\$\|/b/$name'\$\|/b/$name " "$SCRATCH/said"
done
check 'the one without a number is that of GJS' \
    grep -q "ln -sf libjsprof-mozjs-140.a .*/lib/libjsprof-mozjs.a" "$SCRATCH/said"
asked CXX=sh -n install
check 'both are installed' \
    grep -q 'install .*libjsprof-mozjs-128.a .*libjsprof-mozjs-140.a "/' "$SCRATCH/said"

finish
