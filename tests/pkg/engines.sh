#!/bin/sh
# engines.sh - make says which SpiderMonkey binding it builds and why it leaves one out, and
# builds several beside each other. A pkg-config of our own plays the machine.
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

machine nothing nothing
says 'not built: no libmozjs-VERSION-dev of 102 115 128 140' CXX=sh
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
    grep -q 'install .*libjsprof-mozjs-128.a .*libjsprof-mozjs-140.a /' "$SCRATCH/said"

finish
