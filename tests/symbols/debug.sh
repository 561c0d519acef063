#!/bin/sh
# symbols/debug.sh - a stripped library has its names from its debug file, wherever
# debuggers look for one; a debug file of another build gives none.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/symbols/lib.sh"
readelf=$($CC -print-prog-name=readelf) objcopy=$($CC -print-prog-name=objcopy)
DEBUG_ROOT=$tmp/root
export DEBUG_ROOT

cat >"$tmp/lib.c" <<'END'
int shown(int i);
static __attribute__((noinline)) int hidden(int i) { return i * i + 7; }
int shown(int i) { return hidden(i) + hidden(i + 1); }
END

# make_lib FLAG... - a stripped lib.so with a link to lib.debug, and what it was before.
make_lib()
{
    rm -rf "$tmp/root" "$tmp/dir" && mkdir -p "$tmp/root" "$tmp/dir/.debug"
    $CC -O1 -g -shared -fPIC "$@" -o "$tmp/full.so" "$tmp/lib.c"
    (cd "$tmp" && "$objcopy" --only-keep-debug full.so lib.debug &&
        "$objcopy" --strip-all --add-gnu-debuglink=lib.debug full.so dir/lib.so)
    "$readelf" -sW "$tmp/full.so" >"$tmp/symbols"
    has "$tmp/dir/lib.so" shown
    has "$tmp/dir/lib.so" hidden not # there is no debug file yet
}

found()
{
    agree "$1" "$tmp/symbols" "$tmp/dir/lib.so" symbols
    has "$tmp/dir/lib.so" hidden
}

make_lib -Wl,--build-id=none
cp "$tmp/lib.debug" "$tmp/dir/" && found 'link, beside it'
mv "$tmp/dir/lib.debug" "$tmp/dir/.debug/" && found 'link, in .debug'
mkdir -p "$tmp/root$tmp/dir"
mv "$tmp/dir/.debug/lib.debug" "$tmp/root$tmp/dir/" && found 'link, below the root'

# One byte of it changed, and the checksum does not fit any more.
mv "$tmp/root$tmp/dir/lib.debug" "$tmp/dir/"
printf x >>"$tmp/dir/lib.debug"
has "$tmp/dir/lib.so" hidden not

make_lib -Wl,--build-id=0x0123456789abcdef
mkdir -p "$tmp/root/.build-id/01"
cp "$tmp/lib.debug" "$tmp/root/.build-id/01/23456789abcdef.debug"
found 'build id'
rm -r "$tmp/root/.build-id"
cp "$tmp/lib.debug" "$tmp/dir/" && found 'link, believed for its build id'

# The debug file of another build, under the right name.
$CC -O1 -g -shared -fPIC -Wl,--build-id=0xfedcba9876543210 -o "$tmp/other.so" "$tmp/lib.c"
"$objcopy" --only-keep-debug "$tmp/other.so" "$tmp/dir/lib.debug"
has "$tmp/dir/lib.so" hidden not
echo 'symbols: the debug file of another build is refused'
