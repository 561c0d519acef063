#!/bin/sh
# check/layers.sh - arrows point only downward: a symbol or a header of one layer
# may be used on that layer or above it, never below. Within a room (a folder of src/ with
# its subfolders) no files use each other's symbols in a circle. The command opens captures and
# chooses of them by the public header of the reading library; files of it that also include the
# analysis, or the library's inside, are listed, and the list has no other.
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

# What of the command is not yet written with include/jsprof-read.h alone.
inside='calls.h calls_compare.c calls_keep.c calls_table.c dump.c
    follow.c open.h'
for f in $inside; do echo "src/cli/$f"; done | sort >"$tmp/listed"
grep -lE '#[[:space:]]*include[[:space:]]*"(analyze|capture|image|read)/' src/cli/*.[ch] | sort \
    >"$tmp/includes"
if ! cmp -s "$tmp/listed" "$tmp/includes"; then
    comm -13 "$tmp/listed" "$tmp/includes" | sed 's/.*/layers: & includes the analysis/'
    comm -23 "$tmp/listed" "$tmp/includes" | sed 's/.*/layers: & is listed, but includes none/'
    exit 1
fi

# And what uses the profile that open.h lends.
borrowers='advice.c calls.c cmd_threads.c convert.c dump.c head.c head.h html.c info.c info.h
    info_lines.c info_threads.c merge.c open.c open.h table_text.c threads.c threads.h view.c'
for f in $borrowers; do echo "src/cli/$f"; done | sort >"$tmp/listed"
grep -lE 'jsp_profile|(->|\.)profile\>' src/cli/*.[ch] | sort >"$tmp/borrows"
diff "$tmp/listed" "$tmp/borrows" >"$tmp/other" || {
    sed -n 's/^> \(.*\)/layers: \1 uses the profile/p; s/^< \(.*\)/layers: \1 no longer does/p' \
        "$tmp/other"
    exit 1
}

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
