#!/bin/sh
# pkg/install.sh - what a packager does: install into a staging folder, build and run a
# host against that, statically and shared, and uninstall without a trace.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
stage=$tmp/stage prefix=/opt/fresh
root=$stage$prefix
fail() { echo "install: $*"; exit 1; }
run_make() { make -s B="$B" CC="$CC" PREFIX=$prefix DESTDIR="$stage" "$@"; }

run_make install >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'make install'; }
for f in bin/jsprof include/jsprof.h lib/libjsprof.a lib/libjsprof.so \
    lib/pkgconfig/jsprof.pc share/doc/jsprof/LICENSE; do
    [ -f "$root/$f" ] || fail "$f is not there"
done
version=$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
"$root/bin/jsprof" --version | grep -qF "$version" ||
    fail 'the tool tells another version'
# The documents are as they were; they may speak of a path that the sources happen to have.
! grep -rIl --exclude-dir=share -e "$SRCDIR" -e "$stage" "$root" | grep . ||
    fail 'paths of the build machine'

# pkg-config where it is; its own words, read by hand, where it is not.
flags() # static|shared
{
    if command -v pkg-config >/dev/null; then
        extra=
        [ "$1" = shared ] || extra=--static
        PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config $extra --cflags --libs jsprof \
            --define-variable=prefix="$root" --define-variable=libdir="$root/lib"
    else
        sed -n 's|^Cflags: ||p; s|^Libs.*: ||p' "$root/lib/pkgconfig/jsprof.pc" |
            sed "s|\${includedir}|$root/include|; s|\${libdir}|$root/lib|" | tr '\n' ' '
    fi
}
if command -v pkg-config >/dev/null; then
    found=$(PKG_CONFIG_PATH=$root/lib/pkgconfig pkg-config --modversion jsprof)
    [ "$found" = "$version" ] || fail "pkg-config says version $found"
fi

for kind in shared static; do
    f=$(flags $kind)
    [ $kind = shared ] || f=$(echo "$f" | sed 's/-ljsprof/-l:libjsprof.a/')
    $CC -std=c11 -Wall -Wextra ${WERROR:-} -o "$tmp/$kind" tests/pkg/host.c $f ||
        fail "$kind host does not build"
    LD_LIBRARY_PATH=$root/lib "$tmp/$kind" "$tmp/$kind.cap" ||
        fail "$kind host does not run"
    "$root/bin/jsprof" report "$tmp/$kind.cap" >"$tmp/report" || fail "no report on $kind"
    grep -q 'installed_work (host.c' "$tmp/report" ||
        { cat "$tmp/report"; fail "the $kind host's function is not in the report"; }
done
readelf=$($CC -print-prog-name=readelf)
$readelf -d "$tmp/shared" | grep -q 'NEEDED.*libjsprof\.so\.' ||
    fail 'shared host is not shared'
! $readelf -d "$tmp/static" | grep -q 'NEEDED.*libjsprof' || fail 'static host is shared'

run_make uninstall >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'make uninstall'; }
left=$(find "$stage" ! -type d; find "$stage" -type d -name '*jsprof*' ! -path "$root")
[ -z "$left" ] || fail "left behind: $left"
