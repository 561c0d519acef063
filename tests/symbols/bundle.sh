#!/bin/sh
# symbols/bundle.sh - the names that a capture takes along are shown by jsprof and by the
# real libsysprof when the program and its libraries can not be looked at any more.
#
# SPDX-License-Identifier: MIT
set -eu
pkg-config --exists sysprof-4 sysprof-capture-4 2>/dev/null ||
    { echo 'SKIP: needs libsysprof-4-dev'; exit 77; }
. "$SRCDIR/tests/symbols/lib.sh"
export GSETTINGS_BACKEND=memory HOME="$tmp"
compile "$tmp/bundle" "$SRCDIR/tests/symbols/bundle.c"
# shellcheck disable=SC2046
$CC -std=c11 -D_GNU_SOURCE -o "$tmp/reader" "$SRCDIR/tests/real/sysprof_reader.c" \
    $(pkg-config --cflags --libs sysprof-4 sysprof-capture-4 | sed 's/-I/-isystem /g')

"$tmp/bundle" "$tmp/out.cap" | sort >"$tmp/names"
rm "$tmp/bundle"
[ "$(wc -l <"$tmp/names")" = 6 ] || { echo 'bundle: the program failed'; exit 1; }

"$B/bin/jsprof" report --csv "$tmp/out.cap" | sed -n '2,$s/^"\([^"]*\)".*/\1/p' |
    sort >"$tmp/ours"
diff "$tmp/names" "$tmp/ours" || { echo 'bundle: jsprof shows other names'; exit 1; }
"$tmp/reader" "$tmp/out.cap" | awk -F '\t' 'NF == 3 && $1 > 0 { print $3 }' |
    sort >"$tmp/theirs"
diff "$tmp/names" "$tmp/theirs" || { echo 'bundle: Sysprof shows other names'; exit 1; }
echo "bundle: $(wc -l <"$tmp/names") names, the same in jsprof and in Sysprof"
