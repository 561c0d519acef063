#!/bin/sh
# pkg/install.sh - what a packager does: install into a staging folder, build and run a
# host against that, statically and shared, and uninstall without a trace. The staging folder's
# name has a space, LIBDIR is not PREFIX/lib, and files of others lie where ours go.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
stage=$tmp/stage prefix=/opt/fresh libdir=/opt/fresh/lib/here
mkdir "$tmp/the stage"
ln -s 'the stage' "$stage" # the compiler's flags are words
root=$stage$prefix lib=$stage$libdir
fail() { echo "install: $*"; exit 1; }
run_make()
{
    make -s B="$B" CC="$CC" PREFIX=$prefix LIBDIR=$libdir DESTDIR="$tmp/the stage" "$@"
}
others="bin/gjs-console bin/gjs lib/systemd/user/other.service
    share/man/man1/gjs-console.1 lib/here/libjsprof.so.9.9
    share/doc/jsprof/copyright lib/here/jsprof/other.so lib/here/pkgconfig/lua5.4.pc
    lib/here/lua/5.4/other.so lib/libjsprof.so lib/jsprof/libjsprof-gjs.so"
others_are_whole()
{
    for f in $others; do
        [ "$(cat "$root/$f")" = "$f" ] || fail "$1 changes $f, which is not ours"
    done
}
for f in $others; do
    mkdir -p "$root/${f%/*}"
    echo "$f" >"$root/$f"
done

run_make install-lib >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'make install-lib'; }
[ -f "$lib/libjsprof.so" ] && [ ! -e "$root/bin/jsprof" ] && [ ! -e "$root/share/man/man3" ] ||
    fail 'install-lib is not the library alone'
run_make install >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'make install'; }
others_are_whole 'make install'
for f in bin/jsprof include/jsprof.h lib/here/libjsprof.a lib/here/libjsprof.so \
    include/jsprof-read.h lib/here/libjsprof-read.a lib/here/libjsprof-read.so \
    lib/here/pkgconfig/jsprof-read.pc share/man/man3/jsprof-read.3 \
    lib/here/pkgconfig/jsprof.pc lib/here/cmake/jsprof/jsprof-config.cmake \
    lib/systemd/user/jsprof-serve.socket lib/systemd/user/jsprof-serve.service \
    share/doc/jsprof/LICENSE share/fish/vendor_completions.d/jsprof.fish; do
    [ -f "$root/$f" ] || fail "$f is not there"
done
version=$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
"$root/bin/jsprof" --version | grep -qF "$version" ||
    fail 'the tool tells another version'
grep -q "^ExecStart=$prefix/bin/jsprof serve" "$root/lib/systemd/user/jsprof-serve.service" ||
    fail 'the unit starts another program'
# The documents are as they were; they may speak of a path that the sources happen to have.
! grep -rIl --exclude-dir=share -e "$SRCDIR" -e "$stage" "$root" | grep . ||
    fail 'paths of the build machine'

# pkg-config where it is; its own words, read by hand, where it is not.
flags() # static|shared jsprof|jsprof-read
{
    if command -v pkg-config >/dev/null; then
        extra=
        [ "$1" = shared ] || extra=--static
        PKG_CONFIG_PATH=$lib/pkgconfig pkg-config $extra --cflags --libs $2 \
            --define-variable=prefix="$root" --define-variable=libdir="$lib"
    else
        sed -n 's|^Cflags: ||p; s|^Libs.*: ||p' "$lib/pkgconfig/$2.pc" |
            sed "s|\${includedir}|$root/include|; s|\${libdir}|$lib|" | tr '\n' ' '
    fi
}
if command -v pkg-config >/dev/null; then
    found=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion jsprof)
    [ "$found" = "$version" ] || fail "pkg-config says version $found"
fi

for kind in shared static; do
    f=$(flags $kind jsprof)
    [ $kind = shared ] || f=$(echo "$f" | sed 's/-ljsprof/-l:libjsprof.a/')
    $CC -std=c11 -Wall -Wextra ${WERROR:-} -o "$tmp/$kind" tests/pkg/host.c $f ||
        fail "$kind host does not build"
    LD_LIBRARY_PATH=$lib "$tmp/$kind" "$tmp/$kind.cap" ||
        fail "$kind host does not run"
    "$root/bin/jsprof" report "$tmp/$kind.cap" >"$tmp/report" || fail "no report on $kind"
    grep -q 'installed_work (host.c' "$tmp/report" ||
        { cat "$tmp/report"; fail "the $kind host's function is not in the report"; }

    # What reads the capture, and both libraries in one program.
    f=$(flags $kind jsprof-read)
    [ $kind = shared ] || f=$(echo "$f" | sed 's/-ljsprof-read/-l:libjsprof-read.a/')
    $CC -std=c11 -Wall -Wextra ${WERROR:-} -o "$tmp/read-$kind" tests/bench/functions.c $f ||
        fail "$kind reader does not build"
    LD_LIBRARY_PATH=$lib "$tmp/read-$kind" "$tmp/$kind.cap" >"$tmp/report" ||
        fail "$kind reader does not run"
    grep -q 'installed_work (host.c' "$tmp/report" || fail "the $kind reader finds no function"
done
both=$(flags static jsprof; flags static jsprof-read)
printf '#include <jsprof.h>\n#include <jsprof-read.h>\nint main(void) { return %s; }\n' \
    'jsprof_version() != JSPROF_VERSION || jsprof_read_version() != JSPROF_VERSION' >"$tmp/both.c"
$CC -o "$tmp/both" "$tmp/both.c" $(echo $both | sed 's/-l\(jsprof[a-z-]*\)/-l:lib\1.a/g') &&
    "$tmp/both" || fail 'the libraries are not in one program'
readelf=$($CC -print-prog-name=readelf)
$readelf -d "$tmp/shared" | grep -q 'NEEDED.*libjsprof\.so\.' ||
    fail 'shared host is not shared'
! $readelf -d "$tmp/static" | grep -q 'NEEDED.*libjsprof' || fail 'static host is shared'

# What a binding installs can be linked too: here by the words of its own .pc file.
for pc in "$lib"/pkgconfig/jsprof-*.pc; do
    [ -e "$pc" ] && command -v pkg-config >/dev/null || continue
    pc=$(basename "$pc" .pc)
    PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --exists --print-errors "$pc" ||
        fail "pkg-config can not find $pc"
    PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --libs "$pc" | grep -q -- "-l$(
        readlink "$lib/pkgconfig/$pc.pc" | sed 's/\.pc$//' | grep . || echo "$pc")" ||
        fail "pkg-config names no library for $pc"
done
for program in "$root"/bin/jsprof-*; do
    [ ! -x "$program" ] || [ -e "$root/share/man/man1/${program##*/}.1" ] ||
        fail "no manual page of ${program##*/}"
done
# Two programs that find one file: each gets the module that was built for it.
for lua in lua5.1 luajit; do
    [ -e "$lib/lua/${lua#lua}/jsprof.so" ] && command -v $lua >/dev/null || continue
    sed "s|'$libdir|'$tmp/stage$libdir|" "$root/share/lua/5.1/jsprof.lua" >"$tmp/jsprof.lua"
    [ "$(cd "$tmp" && $lua -e 'print(require("jsprof").version)')" = "$version" ] ||
        fail "no module for $lua"
done
if [ -x "$B/bin/jsprof-gjs" ]; then
    [ -x "$root/bin/jsprof-gjs-console" ] || fail 'no jsprof-gjs-console'
    echo 'print(1 + 1)' >"$tmp/sum.js"
    cp -R "$root/" "$tmp/copy" # the loader takes no path with a space
    [ "$("$tmp/copy/bin/jsprof-gjs" --profile-output="$tmp/gjs.cap" gjs "$tmp/sum.js")" = 2 ] ||
        fail 'jsprof-gjs does not find its library'
    echo 'print(typeof imports.jsprof.mark)' >"$tmp/module.js"
    [ "$(XDG_DATA_DIRS=$root/share gjs "$tmp/module.js")" = function ] ||
        fail 'no module imports.jsprof'
fi

run_make uninstall >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail 'make uninstall'; }
others_are_whole 'make uninstall'
for f in $others; do rm "$root/$f"; done
left=$(find "$stage/" ! -type d)
[ -z "$left" ] || fail "left behind: $left"
