#!/bin/sh
# pkg/amalgamation.sh - the library as one file: each compiler builds it with one command and
# no flag of ours, at each level, with and without LTO and hardening; only jsprof's names leave
# it; the signal-safe room is closed in its object; a host that takes it along records itself.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "amalgamation: $*"; exit 1; }
make -s B="$B" CC="$CC" MOZJS=no LUA=no amalgamation
cp "$B"/amalgamation/jsprof.[ch] "$tmp"

build() # NAME COMPILER FLAG...: the object $tmp/NAME.o, without a word
{
    name=$1 cc=$2
    shift 2
    (cd "$tmp" && $cc "$@" ${WERROR:-} -c jsprof.c -o "$name.o" 2>"$name.said") ||
        { head -n 20 "$tmp/$name.said"; fail "$cc $* does not compile it"; }
    [ ! -s "$tmp/$name.said" ] || { head -n 20 "$tmp/$name.said"; fail "$cc $* warns"; }
}
closed() # NAME COMPILER: the proof of the room, on this object
{
    CC=$2 OBJECT=$tmp/$1.o sh tests/check/rooms.sh || fail "the room of $1 is open"
}
records() # NAME LINKER FLAG...
{
    name=$1
    shift
    "$CC" -std=c11 -O2 -I"$tmp" -c tests/pkg/host.c -o "$tmp/host.o"
    "$@" -o "$tmp/host" "$tmp/host.o" "$tmp/$name.o" -pthread || fail "$* does not link $name"
    ${RUN_UNDER:-} "$tmp/host" "$tmp/host.cap" || fail "the host with $name does not run"
    "$B/bin/jsprof" report "$tmp/host.cap" >"$tmp/report"
    grep -q 'installed_work (host.c' "$tmp/report" ||
        { cat "$tmp/report"; fail "the function of the host with $name is not in the report"; }
    "$B/bin/jsprof" info "$tmp/host.cap" >"$tmp/info"
    ! grep -E 'incomplete|killed or still' "$tmp/info" || fail "$name: not a whole capture"
}
text() # NAME: bytes
{
    $($CC -print-prog-name=size) "$tmp/$1.o" | awk 'NR == 2 { print $1 }'
}
tried=
if $CC --version | grep -q clang; then compilers=$CC; else
    compilers="$CC $(command -v clang || true)"
fi
for cc in $compilers; do
    build O2 "$cc" -O2 -g -fstack-usage
    closed O2 "$cc"
    $($CC -print-prog-name=readelf) -sW "$tmp/O2.o" |
        awk '$5 == "GLOBAL" && $6 == "DEFAULT" && $7 != "UND" && $8 !~ /^jsprof_/ { print $8 }' |
        grep . && fail "$cc shows these names to the host"
    records O2 "$cc"
    build O0 "$cc" -g
    [ -z "${LONG:-}" ] || closed O0 "$cc"
    records O0 "$cc"
    tried="$tried ${cc##*/} ($(text O2) bytes of text with -O2)"
done
build Os "$CC" -Os
bytes=$(text Os)
[ "$bytes" -le 270000 ] || fail "$bytes bytes of text with -Os"

# As distributions build, with the warnings of a host that asks for many, and linked by a C++
# compiler.
build hard "$CC" -O3 -Wall -Wextra -g -fPIE -D_FORTIFY_SOURCE=2 -fstack-protector-strong \
    -fstack-clash-protection $($CC -dumpmachine | sed -n 's/^x86_64.*/-fcf-protection/p')
closed hard "$CC"
if command -v g++ >/dev/null && [ -z "${RUN_UNDER:-}" ]; then
    records hard g++ -pie -Wl,-z,relro,-z,now
fi
# LTO of gcc: the machine code is written by the linker.
if $CC -v 2>&1 | grep -q -- --enable-plugin; then
    build lto "$CC" -O3 -g -flto=1
    $CC -O3 -g -flto=1 -r -nostdlib -flinker-output=nolto-rel -o "$tmp/lto-code.o" \
        "$tmp/lto.o" 2>/dev/null
    closed lto-code "$CC"
    records lto "$CC" -O3 -flto=1 2>/dev/null
fi
# LTO of clang, where the linker has a plugin for it: that writes the machine code down too.
if [ -z "${RUN_UNDER:-}" ] && echo 'int main(void) { return 0; }' |
    clang -flto -x c -o "$tmp/linked" - 2>/dev/null; then
    build clang-lto clang -O2 -g -flto
    records clang-lto clang -O2 -flto "-Wl,-plugin-opt=obj-path=$tmp/clang-code.o"
    closed clang-code clang
    tried="$tried clang-lto"
fi
# No name that the handler reaches is bound by its first call after jsprof_open.
mkdir -p "$tmp/b/lib"
$($CC -print-prog-name=ar) rcs "$tmp/b/lib/libjsprof.a" "$tmp/O2.o"
status=0
B=$tmp/b sh tests/pkg/lazy.sh || status=$?
[ $status = 0 ] || [ $status = 77 ] || fail 'the loader looks names up in the handler'
echo "amalgamation: $tried; $bytes bytes of text with -Os"
