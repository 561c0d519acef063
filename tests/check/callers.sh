#!/bin/sh
# check/callers.sh - the tables of callers in headers that a handler uses are true. Each function
# of such a header has a row, each row is a function, and what a handler can reach has "yes" in
# the first column, which is the handler's.
#
# A handler enters the room at three places: the SIGPROF handler; jsp_backtrace, in a handler
# of the host's; and src/session/alone/alone.c, before the handler works as the drain. The
# calls are read from object files that are compiled here without inlining: in the library's
# own files a call inside a file may leave no trace.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
say() { echo "callers: $*"; bad=1; }
tool() { $CC -print-prog-name="$1"; }

case $($CC -dumpmachine) in
x86_64*) call=call relocation='R_X86_64_(PLT32|PC32|GOTPCRELX|REX_GOTPCRELX)' ;;
aarch64*) call=bl relocation='R_AARCH64_CALL26' ;;
*) echo 'SKIP: needs x86-64 or aarch64'; exit 77 ;;
esac

for c in src/sigsafe/*.c src/session/alone/alone.c; do
    $CC -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -O1 -fno-inline \
        -fno-optimize-sibling-calls -fno-lto -c -o "$tmp/$(basename "$c" .c).o" "$c"
done
for o in "$tmp"/*.o; do
    $(tool objdump) -dr --no-show-raw-insn "$o"
done | awk -v call="$call" -v relocation="$relocation" '
    /^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); sub(/\..*/, "", f); next }
    $0 ~ "[[:space:]]" call "q?[[:space:]]" && match($0, /<[^>+]+>/) {
        print f, substr($0, RSTART + 1, RLENGTH - 2)
    }
    $0 ~ relocation { sub(/[-+]0x[0-9a-f]+$/, ""); print f, $NF }' |
    sed 's/\.[a-z.0-9]*$//' | sort -u >"$tmp/calls"

awk '
    { calls[$1] = calls[$1] " " $2 }
    function reach(f, i, n, list) {
        if (f in seen) return
        seen[f] = 1
        n = split(calls[f], list, " ")
        for (i = 1; i <= n; i++) reach(list[i])
    }
    END { reach("jsp_sample_handle"); reach("jsp_backtrace"); reach("alone_drain_sigsafe")
        for (f in seen) print f
    }' "$tmp/calls" |
    sort >"$tmp/handler"
n=$(grep -c '^jsp_' "$tmp/handler")
for root in jsp_sample_handle jsp_backtrace alone_drain_sigsafe; do
    grep -q "^$root " "$tmp/calls" || say "no function $root, by which a handler enters"
done

# A header's rows as "NAME CELL", from the line that names the handler to the table's end.
rows()
{
    awk '/^ \*.*handler  / { inside = 1; next }
        inside && $2 ~ /[.][.][.]$/ { next } # all functions of the header
        inside && $2 ~ /^jsp_/ { print $2, $3; next }
        inside { exit }' "$1"
}

tables=0
for h in $(grep -lE '^ \*.*handler  ' src/sigsafe/*.h \
    src/session/alone/*.h); do
    rows "$h" | sort >"$tmp/rows"
    [ -s "$tmp/rows" ] || continue
    tables=$((tables + 1))
    cut -d ' ' -f 1 "$tmp/rows" >"$tmp/names"
    # Declared on its first line, at the left, with the semicolon there or further on.
    grep -vE '^(static|#|typedef|extern|[ */}])' "$h" |
        sed -nE 's/^[a-z].*[ *](jsp_[a-z0-9_]+)\(.*/\1/p' | sort -u >"$tmp/declared"
    sed -nE '/^static inline/{ /\(/!N; s/.*[ *\n](jsp_[a-z0-9_]+)\(.*/\1/p; }' "$h" |
        sort -u >"$tmp/inline"
    for f in $(comm -13 "$tmp/names" "$tmp/declared"); do
        say "$h: $f has no row"
    done
    for f in $(sort "$tmp/declared" "$tmp/inline" | comm -23 "$tmp/names" -); do
        say "$h: $f is in the table, but is no function"
    done
    while read -r f cell; do
        [ "$cell" = yes ] || ! grep -qxF "$f" "$tmp/handler" ||
            say "$h: the handler calls $f, which the table denies"
    done <"$tmp/rows"
done
[ "$tables" -ge 15 ] || say "only $tables tables found"
[ $bad = 0 ] || exit 1
echo "callers: $tables tables are true of the $n functions that the handler reaches"
