#!/bin/sh
# packaging/dist.sh NAME FOLDER - write FOLDER/NAME.tar.gz: the files of the tree below NAME/.
#
# The bytes depend on the files alone. Their date is SOURCE_DATE_EPOCH, or that of the
# commit, or, outside a repository, that of the Makefile: an unpacked archive makes itself.
#
# SPDX-License-Identifier: MIT
set -eu
list=$(mktemp)
trap 'rm -f "$list"' EXIT
if [ -e .git ] && command -v git >/dev/null; then
    git ls-files >"$list"
    date=$(git log -1 --format=%ct)
else
    find . -type f ! -path './build*' ! -path '*/node_modules/*' ! -path './.git/*' |
        sed 's|^\./||' >"$list"
    date=$(stat -c %Y Makefile)
fi
mkdir -p "$2"
LC_ALL=C sort "$list" |
    tar -c --no-recursion --files-from=- --transform "s|^|$1/|S" --format=gnu --owner=0 --group=0 \
        --numeric-owner --mode=go=rX,u+rw,a-s --mtime="@${SOURCE_DATE_EPOCH:-$date}" |
    gzip -9n >"$2/$1.tar.gz"
echo "dist: $2/$1.tar.gz, $(wc -l <"$list") files, $(wc -c <"$2/$1.tar.gz") bytes"
