#!/bin/sh
# pkg/dist.sh - the archive of make dist: the same bytes from two folders, complete enough to
# make itself again, with nothing that was built.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "dist: $*"; exit 1; }
unset GIT_DIR GIT_WORK_TREE
name=jsprof-$(sed -n 's/^.define JSPROF_VERSION_STRING "\(.*\)"/\1/p' include/jsprof.h)
dist() # FOLDER B: the sum of its archive
{
    (cd "$1" && make -s B="$2" MOZJS=no LUA=no dist >"$tmp/log" 2>&1) ||
        { cat "$tmp/log"; fail "make dist in $1"; }
    (cd "$1" && sha256sum <"$2/$name.tar.gz")
}
for folder in one 'two/with a space'; do
    mkdir -p "$tmp/$folder"
    tar -c --exclude=.git --exclude='./build*' --exclude=node_modules . |
        (cd "$tmp/$folder" && tar -x)
done
umask 077
SOURCE_DATE_EPOCH=1700000000
export SOURCE_DATE_EPOCH
first=$(dist "$tmp/one" build)
umask 022
touch "$tmp/two/with a space/README.md"
[ "$(dist "$tmp/two/with a space" build)" = "$first" ] || fail 'two folders, two archives'
unset SOURCE_DATE_EPOCH

tar -C "$tmp" -xzf "$tmp/one/build/$name.tar.gz"
[ "$(dist "$tmp/$name" build)" = "$first" ] || fail 'it does not make itself'
cmp "$tmp/$name/build/amalgamation/jsprof.c" "$tmp/one/build/amalgamation/jsprof.c" ||
    fail 'another amalgamation'
tar -tzf "$tmp/one/build/$name.tar.gz" >"$tmp/list"
! grep -E '\.(o|a|so|cap)$|/build/' "$tmp/list" || fail 'built files in it'
[ "$(wc -l <"$tmp/list")" -gt 500 ] || fail 'files are missing'

# In a folder of another name, twice: it does not contain itself.
rm -rf "$tmp/$name/build"
second=$(export SOURCE_DATE_EPOCH=1700000000; dist "$tmp/$name" out && dist "$tmp/$name" out)
[ "$second" = "$first
$first" ] || fail 'what was built elsewhere is in it'
# A file that can not be read is an error. Only a repository knows which should be there.
command -v git >/dev/null || exit 0
(cd "$tmp/$name" && git init -q . && git add -A -f CHANGELOG.md Makefile include src packaging &&
    git -c user.name=x -c user.email=x@example.org commit -qm x && rm CHANGELOG.md) >/dev/null
! (cd "$tmp/$name" && make -s B=out MOZJS=no LUA=no dist >"$tmp/log" 2>&1) ||
    fail 'a file is missing, and make dist does not fail'
