#!/bin/sh
# check/layers.sh - arrows point only downward: a symbol or a header of one layer
# may be used on that layer or above it, never below. Within a room (a folder of src/ with
# its subfolders) no files use each other's symbols in a circle. The command reads captures by the
# public header of the reading library.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nm=$($CC -print-prog-name=nm)

# The layers of files below src/, as "L FILE LAYER".
find src -name '*.[ch]' | sort | awk '{
        split($1, part, "/")
        room = part[2]
        on = -1
        if (room ~ /^(sigsafe|base)$/) on = 0
        if (room ~ /^(image|capture)$/) on = 1
        if (room ~ /^(calls|tasks|session|analyze)$/) on = 2
        if (room ~ /^(export|page|control|public|read)$/) on = 3
        if (room ~ /^(cli|serve)$/) on = 4
        if (on < 0) { print "layers: " $1 " is on no layer" >"/dev/stderr"; bad = 1 }
        print "L", $1, on
    }
    END { exit bad }' >"$tmp/layers"

objects=$(awk '$2 ~ /\.c$/ { sub(/c$/, "o", $2); print $2 }' "$tmp/layers")
for o in $objects; do
    [ -f "$B/obj/$o" ] || { echo "layers: ${o%o}c was not built" >&2; exit 1; }
done
# shellcheck disable=SC2086
(cd "$B/obj" && $nm -gA $objects) | awk '
    FILENAME == ARGV[1] { on[$2] = $3; next }
    {
        c = $1; sub(/:.*/, "", c); sub(/o$/, "c", c)
        print ($1 ~ /:[0-9a-f]+$/ ? "D" : "U"), $NF, on[c], c
    }' "$tmp/layers" - >"$tmp/arrows"

# An include is looked for beside the file and below src/; what is neither is libc's.
awk '
    FILENAME == ARGV[1] { on[$2] = $3; next }
    /^[[:space:]]*#[[:space:]]*include[[:space:]]*"/ {
        split($0, part, "\"")
        dir = FILENAME; sub(/[^\/]*$/, "", dir)
        path = dir part[2]
        while (sub(/[^\/.]+\/\.\.\//, "", path)) continue
        if (!(path in on)) path = "src/" part[2]
        if (path in on) print "I", path, on[FILENAME], FILENAME, on[path]
    }' "$tmp/layers" $(awk '{ print $2 }' "$tmp/layers") >>"$tmp/arrows"

awk '
    $1 == "D" { def[$2] = $3; where[$2] = $4; n++ }
    $1 == "U" { use[++u] = $2; on[u] = $3; by[u] = $4 }
    $1 == "I" { n++ }
    $1 == "I" && $5 > $3 { print "layers: " $4 " includes upward: " $2; bad = 1 }
    END {
        for (i = 1; i <= u; i++)
            if (use[i] in def && def[use[i]] > on[i]) {
                print "layers: " by[i] " calls up to " use[i] " in " where[use[i]]
                bad = 1
            }
        if (!n) { print "layers: nothing found to check"; bad = 1 }
        exit bad
    }' "$tmp/arrows"

# The command knows captures by include/jsprof-read.h alone: neither its files nor headers that
# these include, however far, are of the analysis or of the inside of the reading library, and they
# name nothing of them. capture/wire.h is for two bytes of a header, in follow.c.
awk '
    $1 == "I" { to[$4] = to[$4] " " $2; n++ }
    function visit(f, path, i, k, list) {
        if (f in seen) return
        seen[f] = 1
        if (f ~ /^src\/(analyze|image|read|capture)\//) {
            if (f != "src/capture/wire.h" || path !~ /src\/cli\/follow\.c$/) {
                print "layers: src/cli includes " f " through" path
                bad = 1
            }
            return
        }
        k = split(to[f], list, " ")
        for (i = 1; i <= k; i++) visit(list[i], " " f path)
    }
    FILENAME == ARGV[2] && $1 == "L" && $2 ~ /^src\/cli\// { begin[++m] = $2 }
    END {
        for (b = 1; b <= m; b++) { split("", seen); visit(begin[b], "") }
        if (!m || !n) { print "layers: no includes of src/cli found"; bad = 1 }
        exit bad
    }' "$tmp/arrows" "$tmp/layers"
inside='struct jsp_(profile|read|account|exact|function|stack|thread_info|select)\b|jsp_profile_'
! grep -nE "$inside" src/cli/*.[ch] | sed 's/^/layers: names the inside of a reader: /' |
    grep . || exit 1

# The arrows within each room.
awk '
    function room(file) { split(file, part, "/"); return part[2] }
    $1 == "D" { where[$2] = $4 }
    $1 == "U" { use[++u] = $2; by[u] = $4 }
    END {
        for (i = 1; i <= u; i++) {
            to = where[use[i]]
            if (to != "" && to != by[i] && room(to) == room(by[i])) print by[i], to
        }
    }' "$tmp/arrows" | sort -u >"$tmp/within"
[ -s "$tmp/within" ] || { echo 'layers: no arrows within a room found'; exit 1; }
tsort "$tmp/within" >/dev/null 2>"$tmp/circle" || {
    echo "layers: files use each other in a circle:" \
        $(sed -n 's/^tsort: \([^ ]*\.c\)$/\1/p' "$tmp/circle")
    exit 1
}
