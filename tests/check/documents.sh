#!/bin/sh
# check/documents.sh - each file and each function that a document names exists: the map in
# docs/design.md and the references of the other documents stay true when code moves.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
# What is for another project (docs/upstream-*) names that project's files.
documents=$(find README.md docs bindings examples -name '*.md' ! -name 'upstream-*' \
    2>/dev/null || true)
find Makefile include src bindings debugger examples tests docs -name node_modules -prune -o \
    -type f -print | sed 's|^|/|' >"$tmp/files"
cat $(sed -n 's|^/\(.*\.[ch]\)$|\1|p; s|^/\(.*\.cpp\)$|\1|p' "$tmp/files") |
    grep -oE '\b(jsp|jsprof|cli)_[a-z0-9_]+' | sort -u >"$tmp/names"

# Words in backticks, one a line. Capital letters in a path are a place for a name.
for document in $documents; do
    sed '/^```/,/^```/d' "$document" | grep -oE '`[^` ]+`' | tr -d '`' | sort -u >"$tmp/words"
    for path in $(grep -E '^[a-z0-9_./-]+\.(c|h|cpp|sh|py|js|mk|md)$' "$tmp/words"); do
        grep -q "/$path\$" "$tmp/files" ||
            { echo "documents: $document: $path does not exist"; bad=1; }
    done
    [ "$document" != docs/style.md ] || continue # its names are examples
    grep -E '^(jsp|jsprof|cli)_[a-z0-9_]+(\(\))?$' "$tmp/words" | tr -d '()' | sort -u |
        comm -23 - "$tmp/names" >"$tmp/missing"
    [ ! -s "$tmp/missing" ] ||
        { echo "documents: $document: no $(tr '\n' ' ' <"$tmp/missing")"; bad=1; }
done
# A row that gives a command for a list of files, in place of the list: the command finds the C
# files that its cell names.
grep -hoE '\|[^|]*`grep -rlw [^`|]*`[^|]*' $documents >"$tmp/cells" || true
[ -s "$tmp/cells" ] || { echo 'documents: no command lists files'; bad=1; }
while IFS= read -r cell; do
    arguments=$(echo "$cell" | sed 's/.*`grep -rlw \([^`]*\)`.*/\1/')
    case $arguments in *[!A-Za-z0-9_\ /-]*) echo "documents: $arguments"; bad=1; continue ;; esac
    grep -rlw $arguments >"$tmp/listed" || true
    for path in $(echo "$cell" | grep -oE '`[a-z_/]+\.c`' | tr -d '`'); do
        grep -q "/$path\$" "$tmp/listed" ||
            { echo "documents: $path is not in: grep -rlw $arguments"; bad=1; }
    done
done <"$tmp/cells"
# No document lists in words where something is read, in place of such a command.
grep -nE "where the [a-z' ]*clock is read" $documents >"$tmp/out" &&
    { echo "documents: a list by hand: $(cut -c 1-200 "$tmp/out")"; bad=1; }
n=$(wc -l <"$tmp/names")
[ "$n" -gt 500 ] || { echo "documents: only $n names in the sources"; bad=1; }
exit $bad
