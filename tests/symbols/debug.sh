#!/bin/sh
# symbols/debug.sh - a stripped library has its names from its debug file, wherever
# debuggers look for one, or from the compressed symbols inside it; a debug file of another
# build gives none.
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
mkdir "$tmp/root/0123456789abcdef"
cp "$tmp/lib.debug" "$tmp/root/0123456789abcdef/debuginfo"
found "the layout of debuginfod's cache"
: >"$tmp/root/0123456789abcdef/debuginfo" # it notes so that a server has no such file
has "$tmp/dir/lib.so" hidden not
rm -r "$tmp/root/0123456789abcdef"
cp "$tmp/lib.debug" "$tmp/dir/" && found 'link, believed for its build id'

# The debug file of another build, under the right name.
$CC -O1 -g -shared -fPIC -Wl,--build-id=0xfedcba9876543210 -o "$tmp/other.so" "$tmp/lib.c"
"$objcopy" --only-keep-debug "$tmp/other.so" "$tmp/dir/lib.debug"
has "$tmp/dir/lib.so" hidden not
echo 'symbols: the debug file of another build is refused'

# As Fedora's libraries: the symbols of functions, compressed, in a section of the library.
rm "$tmp/dir/lib.debug"
if command -v xz >/dev/null; then
    "$objcopy" --strip-debug --remove-section .comment "$tmp/full.so" "$tmp/mini"
    "$objcopy" --remove-section .gnu_debuglink "$tmp/dir/lib.so" "$tmp/bare.so"
    for how in -1 -9e --check=none '--block-size=4096'; do
        xz -c $how "$tmp/mini" >"$tmp/mini.xz"
        "$objcopy" --add-section .gnu_debugdata="$tmp/mini.xz" "$tmp/bare.so" "$tmp/dir/lib.so"
        found "xz $how inside it"
    done
    head -c 200 "$tmp/mini.xz" >"$tmp/cut.xz"
    "$objcopy" --add-section .gnu_debugdata="$tmp/cut.xz" "$tmp/bare.so" "$tmp/dir/lib.so"
    has "$tmp/dir/lib.so" hidden not
    has "$tmp/dir/lib.so" shown
    # Everything that this machine has of our own programs, as xz itself decodes it.
    cat >"$tmp/unpack.c" <<'END'
#include <stdio.h>
#include "image/xz.h"
int main(void)
{
    static uint8_t in[1 << 26];
    struct jsp_xz_output out;
    size_t n = fread(in, 1, sizeof in, stdin);
    return jsp_xz_decode(in, n, &out) < 0 || fwrite(out.bytes, 1, out.size, stdout) != out.size;
}
END
    compile "$tmp/unpack" "$tmp/unpack.c"
    for options in -0 -6 --lzma2=lc=0,lp=4,pb=4 --lzma2=lc=4,lp=0,pb=0,dict=4KiB; do
        xz -c $options "$B/bin/jsprof" | "$tmp/unpack" | cmp -s - "$B/bin/jsprof" || {
            echo "symbols: xz $options: not the same"
            exit 1
        }
    done
    xz --x86 --lzma2 -c "$B/bin/jsprof" | "$tmp/unpack" && exit 1
    echo 'symbols: xz: 4 ways to write one program'
else
    echo 'symbols: no xz here: compressed symbols were not tried'
fi
