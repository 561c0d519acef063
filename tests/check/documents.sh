#!/bin/sh
# check/documents.sh - each file and each function that a document names exists: the map in
# docs/design.md and the references of the other documents stay true when code moves. A function
# that stands beside a file, in a table of steps or in parentheses, is in that file; the lists of
# layers and of files that tell the clocks apart are those of the sources.
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
# same WHERE: $tmp/said is what the document says, $tmp/true what the sources say.
same()
{
    sort -u "$tmp/said" | diff - "$tmp/true" >"$tmp/diff" && return
    echo "documents: docs/design.md: $1, <: in the document alone, >: in the sources alone"
    grep '^[<>]' "$tmp/diff"
    bad=1
}

# The tables of steps, a row as "WORD FILE...": one of the files has the word. A file without a
# folder is in that of the file before it.
awk -F '|' '
    function files(cell,    n, i, part, at, room) {
        at = ""
        n = split(cell, part, /`/)
        for (i = 2; i <= n; i += 2) {
            if (part[i] !~ /^[a-z0-9_.*\/]+[.][ch]$/) continue
            if (part[i] ~ /\//) { room = part[i]; sub(/[^\/]*$/, "", room) }
            else part[i] = room part[i]
            at = at " " (part[i] ~ /^(include|src)/ ? "" : "src/") part[i]
        }
        return at
    }
    /^\| step \| in \|/ { inside = 1; next }
    !/^\|/ { inside = 0 }
    inside && files($3) {
        n = split($4, word, /`/)
        for (i = 2; i <= n; i += 2)
            if (word[i] ~ /^[a-z0-9_]+$/) print word[i] files($3)
    }' docs/design.md >"$tmp/steps"
# "`FILE` (`WORD`)", wherever it stands.
sed 's/`[^`]*`/\n&/g' docs/design.md | sed -nE '
    /^`[a-z]+\/[a-z0-9_\/]+[.][ch]` \($/{
        N
        s/^`(src\/)?([^`]*)` \(\n`([a-zA-Z0-9_]+)`.*/\3 src\/\2/p
    }' |
    sed 's|src/include/|include/|; s|src/bindings/|bindings/|' >>"$tmp/steps"
while read -r word files; do
    # shellcheck disable=SC2086
    grep -qw -- "$word" $files 2>/dev/null ||
        { echo "documents: docs/design.md: $word is not in $files"; bad=1; }
done <"$tmp/steps"
[ "$(wc -l <"$tmp/steps")" -ge 40 ] ||
    { echo 'documents: found no steps in docs/design.md'; bad=1; }

grep -lE '\bJSP_CLOCK_(CPU|WALL)\b' src/calls/*.c src/control/*.c src/public/*.c src/session/*.c \
    src/session/alone/*.c src/sigsafe/*.c src/tasks/*.c | sed 's|^src/||' | sort >"$tmp/true"
grep 'tell the clocks apart: ' docs/design.md |
    sed 's/.*tell the clocks apart: //; s/[.] Of these.*//' | tr -d '` ' | tr ',' '\n' \
    >"$tmp/said"
same 'the files that tell the clocks apart'

sed -nE 's/.*room ~ \/\^\(([a-z|]*)\)\$\/\) on = ([0-9]).*/\2 \1/p' tests/check/layers.sh |
    tr '|' ' ' | awk '{ for (i = 2; i <= NF; i++) print $1, $i }' | sort >"$tmp/true"
sed -nE 's/^\| ([0-9]) \| `src\/([a-z]*)\/` \|.*/\1 \2/p' docs/design.md >"$tmp/said"
same 'the layers'

n=$(wc -l <"$tmp/names")
[ "$n" -gt 500 ] || { echo "documents: only $n names in the sources"; bad=1; }
exit $bad
