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

layer() # FILE below src/
{
    case $1 in
    src/sigsafe/* | src/base/*) echo 0 ;;
    src/image/* | src/capture/*) echo 1 ;;
    src/calls/* | src/tasks/* | src/session/* | src/analyze/*) echo 2 ;;
    src/export/* | src/page/* | src/control/* | src/public/* | src/read/*) echo 3 ;;
    src/cli/* | src/serve/*) echo 4 ;;
    *) echo "layers: $1 is on no layer" >&2; return 1 ;;
    esac
}

find src -name '*.c' | sort >"$tmp/sources"
while IFS= read -r c; do
    l=$(layer "$c")
    [ -f "$B/obj/${c%.c}.o" ] || { echo "layers: $c was not built" >&2; exit 1; }
    $nm -g "$B/obj/${c%.c}.o" | awk -v l="$l" -v c="$c" '
        NF == 3 { print "D", $3, l, c }
        NF == 2 { print "U", $2, l, c }'
done <"$tmp/sources" >"$tmp/arrows"

# An include is looked for beside the file and below src/; what is neither is libc's.
find src -name '*.[ch]' | sort >"$tmp/files"
while IFS= read -r f; do
    echo "L $f $(layer "$f")"
done <"$tmp/files" >"$tmp/layers"
awk '
    FILENAME == ARGV[1] { on[$2] = $3; next }
    /^[[:space:]]*#[[:space:]]*include[[:space:]]*"/ {
        split($0, part, "\"")
        dir = FILENAME; sub(/[^\/]*$/, "", dir)
        path = dir part[2]
        while (sub(/[^\/.]+\/\.\.\//, "", path)) continue
        if (!(path in on)) path = "src/" part[2]
        if (path in on) print "I", path, on[FILENAME], FILENAME, on[path]
    }' "$tmp/layers" $(cat "$tmp/files") >>"$tmp/arrows"

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
