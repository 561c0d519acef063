# lib.sh - what the scripts of this folder share: a scratch folder, and $table, which
# shows what our reader makes of an ELF file.
#
# SPDX-License-Identifier: MIT
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
table=$tmp/table

# compile PROGRAM SOURCE - with all of the library's inside.
compile()
{
    $CC -std=c11 -D_GNU_SOURCE -O1 -I"$SRCDIR/src" -o "$1" "$2" "$B/obj/inner.a" -pthread
}

compile "$table" "$SRCDIR/tests/symbols/table.c"

# agree WHAT READELF-OUTPUT FILE MODE - ours says the same of FILE.
agree()
{
    "$table" "$3" "$4" <"$2" >"$tmp/said" || {
        cat "$tmp/said"
        echo "symbols: $1: not the same"
        exit 1
    }
    [ -s "$tmp/said" ] || { echo "symbols: $1: nothing was compared"; exit 1; }
    echo "symbols: $1: $(tail -n 1 "$tmp/said")"
}

# has FILE WHAT [not] - does ours name a function so?
has()
{
    "$table" "$1" | grep -q " $2\$" && found=yes || found=no
    [ "$found${3:-}" = yes ] || [ "$found${3:-}" = nonot ] || {
        echo "symbols: $1: ${3:-} $2: $found"
        exit 1
    }
}
