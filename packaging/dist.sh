#!/bin/sh
# packaging/dist.sh NAME FOLDER - write FOLDER/NAME.tar.gz: the files of the tree below NAME/.
#
# The bytes depend on the files alone. Their date is SOURCE_DATE_EPOCH, or that of the
# commit, or, outside a repository, that of the Makefile: an unpacked archive makes itself.
#
# SPDX-License-Identifier: MIT
set -eu
list=$(mktemp)
trap 'rm -f "$list" "$list.tar"' EXIT
if [ -e .git ] && command -v git >/dev/null; then
    git ls-files >"$list"
    date=$(git log -1 --format=%ct)
else
    # The folder may lie in the tree, under any name.
    built=$(mkdir -p "$2" && cd "$2" && pwd -P)
    here=$(pwd -P)
    case $built in "$here"/*) built=.${built#"$here"} ;; esac
    find . -path "$built" -prune -o -type f ! -path './build*' ! -path '*/node_modules/*' \
        ! -path './.git/*' -print | sed 's|^\./||' >"$list"
    date=$(stat -c %Y Makefile)
fi
mkdir -p "$2"
LC_ALL=C sort -o "$list" "$list"
# Not in a pipe, which would hide a failure of tar.
tar -c --no-recursion --files-from="$list" --transform "s|^|$1/|S" --format=gnu --owner=0 --group=0 \
    --numeric-owner --mode=go=rX,u+rw,a-s --mtime="@${SOURCE_DATE_EPOCH:-$date}" >"$list.tar"
gzip -9n <"$list.tar" >"$2/$1.tar.gz"
echo "dist: $2/$1.tar.gz, $(wc -l <"$list") files, $(wc -c <"$2/$1.tar.gz") bytes"
