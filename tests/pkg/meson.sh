#!/bin/sh
# pkg/meson.sh - examples/meson takes jsprof in each way that Meson knows: installed, as a
# folder in subprojects, and by a wrap file that names the archive of make dist.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
for tool in meson ninja pkg-config; do
    command -v $tool >/dev/null || { echo "SKIP: needs $tool"; exit 77; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "meson: $*"; exit 1; }
unset CFLAGS LDFLAGS JSPROF
run_make() { make -s B="$B" CC="$CC" MOZJS=no LUA=no "$@"; }
run_make PREFIX="$tmp/in" install-lib >/dev/null
run_make dist >/dev/null
name=jsprof-$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)

host() # NAME WORD...: set up a copy of the example in NAME with these, build, and record
{
    name_of=$1
    shift
    mkdir -p "$tmp/$name_of/meson/subprojects"
    cp examples/meson/meson.build "$tmp/$name_of/meson"
    cp examples/minimal.c "$tmp/$name_of"
    { (cd "$tmp/$name_of/meson" && CC=$CC meson setup "$@" ../build . &&
        ninja -C ../build); } >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "$name_of"; }
    ! grep -i 'warning:' "$tmp/log" || fail "$name_of: warnings"
    JSPROF=$tmp/$name_of.cap LD_LIBRARY_PATH=$tmp/in/lib "$tmp/$name_of/build/host" >/dev/null ||
        fail "$name_of: the host does not run"
    "$B/bin/jsprof" report "$tmp/$name_of.cap" | grep -q 'render (script.x' ||
        fail "$name_of: no function of the host in its report"
}
PKG_CONFIG_PATH=$tmp/in/lib/pkgconfig
export PKG_CONFIG_PATH
host installed --wrap-mode=nofallback
PKG_CONFIG_PATH=

mkdir -p "$tmp/folder/meson/subprojects"
tar -C "$tmp/folder/meson/subprojects" -xzf "$B/$name.tar.gz"
mv "$tmp/folder/meson/subprojects/$name" "$tmp/folder/meson/subprojects/jsprof"
host folder --force-fallback-for=jsprof --default-library=static

mkdir -p "$tmp/wrap/meson/subprojects/packagefiles"
cp "$B/$name.tar.gz" "$tmp/wrap/meson/subprojects/packagefiles"
cat >"$tmp/wrap/meson/subprojects/jsprof.wrap" <<END_OF_WRAP
[wrap-file]
directory = $name
source_filename = $name.tar.gz
source_hash = $(sha256sum <"$B/$name.tar.gz" | cut -d ' ' -f 1)

[provide]
jsprof = jsprof_dep
END_OF_WRAP
host wrap --force-fallback-for=jsprof
