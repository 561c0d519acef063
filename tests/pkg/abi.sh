#!/bin/sh
# pkg/abi.sh - a program that was compiled with the last release of the reading library works with
# this one: no function is gone or takes other arguments, and no struct or list of constants has
# changed but by fields at its end. tests/pkg/abi.txt has the declarations of that release, one a
# line; `sh tests/pkg/abi.sh --update` makes it anew, at a release.
#
# SPDX-License-Identifier: MIT
set -eu
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)} B=${B:-build} CC=${CC:-gcc}
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
list=tests/pkg/abi.txt
bad=0

# Each declaration of our header on a line of its own, without what other headers declare. Of
# "T a, *b;" in a struct it makes "T a; T *b;", as a later release may write them apart.
declarations() # HEADER
{
    "$CC" -E -Iinclude '-D__attribute__(x)=' "$1" | awk '
        function apart(text,    fields, names, n, m, i, k, base, out) {
            n = split(text, fields, /; /)
            for (i = 1; i <= n; i++) {
                m = fields[i] ~ /[(]/ ? 1 : split(fields[i], names, /, /)
                base = m > 1 ? names[1] : ""
                sub(/[*]*[a-z_]+(\[.*)?$/, "", base)
                if (m > 1)
                    for (k = 2; k <= m; k++) names[1] = names[1] "; " base names[k]
                out = out (i > 1 ? "; " : "") (m > 1 ? names[1] : fields[i])
            }
            return out
        }
        /^# / { ours = /jsprof-read[.]h"/; next }
        !ours { next }
        {
            text = text " " $0
            depth += gsub(/[{]/, "{") - gsub(/[}]/, "}")
            if (depth == 0 && text ~ /; *$/) {
                gsub(/[ \t]+/, " ", text); sub(/^ /, "", text); sub(/,? }/, " }", text)
                head = index(text, "{ ")
                if (head && text !~ /^enum/)
                    text = substr(text, 1, head + 1) apart(substr(text, head + 2))
                print text
                text = ""
            }
        }'
}

if [ "${1:-}" = --update ]; then
    declarations include/jsprof-read.h >$list
    exit
fi

# A function may be declared twice only with the same types: the compiler compares them. Of a
# struct or an enum the old line, up to its brace, must begin a new one.
fits() # LIST: of an old release
{
    { echo '#include <jsprof-read.h>'; grep -v '[{]' "$1"; } >"$tmp/again.c"
    "$CC" -std=c11 -Iinclude -fsyntax-only "$tmp/again.c" >"$tmp/said" 2>&1 || return 1
    sed -n 's/ *}[^}]*$//; /[{]/p' "$1" >"$tmp/old"
    awk 'FILENAME == ARGV[1] { old[NR] = $0; n = NR; next }
        { for (i = 1; i <= n; i++) if (index($0, old[i]) == 1) found[i] = 1 }
        END {
            for (i = 1; i <= n; i++)
                if (!(i in found)) { print "changed: " old[i]; bad = 1 }
            exit bad
        }' "$tmp/old" "$tmp/new" >"$tmp/said"
}

declarations include/jsprof-read.h >"$tmp/new"
[ "$(wc -l <"$tmp/new")" -gt 80 ] || { echo 'abi: few declarations'; bad=1; }
fits $list || { echo 'abi: an old program does not fit'; cat "$tmp/said"; bad=1; }
nm -D --defined-only "$B/lib/libjsprof-read.so" | sed -n 's/.* T //p' | sed 's/@.*//' |
    sort >"$tmp/exported"
sed -n '/[{]/d; s/.*\(jsprof_read_[a-z_]*\)(.*/\1/p' $list | sort | comm -23 - "$tmp/exported" \
    >"$tmp/gone"
[ ! -s "$tmp/gone" ] || { echo 'abi: not exported any more:'; cat "$tmp/gone"; bad=1; }

# It can fail: a function with another argument, a field in another place or of another type. And
# a field that is new at the end is none.
refuses() # SED
{
    sed "$1" $list >"$tmp/other"
    ! cmp -s $list "$tmp/other" || { echo "abi: changes nothing: $1"; bad=1; }
    ! fits "$tmp/other" || { echo "abi: lets pass: $1"; bad=1; }
}
refuses 's/^void jsprof_read_close(jsprof_reader/void jsprof_read_close(int no, jsprof_reader/'
refuses '/^typedef struct jsprof_read_thread {/s/size_t size;/& int more;/'
refuses '/^typedef struct jsprof_read_thread {/s/ int32_t pid/ int64_t pid/'
sed '/^typedef struct jsprof_read_sum {/s/[^;]*; }/}/' $list >"$tmp/shorter"
! cmp -s $list "$tmp/shorter" || { echo 'abi: no shorter struct'; bad=1; }
fits "$tmp/shorter" || { cat "$tmp/said"; echo 'abi: refuses a new field'; bad=1; }
exit $bad
