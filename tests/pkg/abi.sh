#!/bin/sh
# pkg/abi.sh - a program that was linked with the last release of the reading library works with
# this one: no function is gone, no struct has changed but by fields at its end. The dump of the
# release is in tests/pkg/abi; `sh tests/pkg/abi.sh --update` makes it anew, at a release.
#
# SPDX-License-Identifier: MIT
set -eu
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)} B=${B:-build}
cd "$SRCDIR"
for tool in abidiff abidw; do
    command -v $tool >/dev/null || { echo 'SKIP: needs abigail-tools'; exit 77; }
done
case $("${CC:-gcc}" -dumpmachine) in
x86_64*-gnu*) ;;
*) echo 'SKIP: needs x86-64 and glibc, of which the dump is'; exit 77 ;;
esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
dump=tests/pkg/abi/libjsprof-read.abi
so=$(readlink -f "$B/lib/libjsprof-read.so")
if [ "${1:-}" = --update ]; then
    abidw --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed \
        --exported-interfaces-only --drop-private-types --headers-dir include "$so" >"$dump"
    exit
fi
bad=0
# Every line of the report must be one of those that tell of fields behind the old end.
compare() # DUMP
{
    abidiff --no-added-syms "$1" "$so" >"$tmp/said" 2>&1 && return
    [ $? = 4 ] || return 1
    awk '
        /^$/ || /^(Functions|Variables) changes summary: 0 Removed, / { next }
        /^[0-9]+ functions? with some indirect sub-type change/ { next }
        /^  \[C\] .function .* has some indirect sub-type changes:$/ { next }
        /^ *parameter [0-9]+ of type .* has sub-type changes:$/ { next }
        /^ *in (pointed to|unqualified underlying) type / { next }
        /^ *underlying type .struct jsprof_read_[a-z]*. changed:$/ { next }
        /^ *type size changed from [0-9]+ to [0-9]+ \(in bits\)$/ { old = $5; next }
        /^ *[0-9]+ data member insertions?:$/ { next }
        /, at offset [0-9]+ \(in bits\)/ {
            match($0, /at offset [0-9]+/)
            if (substr($0, RSTART + 10, RLENGTH - 10) + 0 >= old + 0) next
        }
        { print "abi: " $0; bad = 1 }
        END { exit bad }' "$tmp/said" >"$tmp/bad"
}
compare "$dump" || { cat "$tmp/said" "$tmp/bad"; bad=1; }

# It can fail: a function that the library has no more, a field in another place. And a field that
# is new at the end is none.
refuses() # SED
{
    sed "$1" "$dump" >"$tmp/other.abi"
    ! cmp -s "$dump" "$tmp/other.abi" || { echo "abi: changes nothing: $1"; bad=1; }
    ! compare "$tmp/other.abi" || { echo "abi: lets pass: $1"; bad=1; }
}
refuses "s/jsprof_read_about/jsprof_read_of_old/g"
thread="/class-decl name='jsprof_read_thread'/,/<.class-decl>/"
refuses "$thread s/layout-offset-in-bits='96'/layout-offset-in-bits='64'/"
refuses "$thread s/name='pid' type-id='[^']*'/name='pid' type-id='type-id-7'/"
awk '/<class-decl name=.jsprof_read_sum./ { on = 1; sub("-bits=.256.", "-bits='"'192'"'") }
    on && /layout-offset-in-bits=.192./ { skip = 3 }
    skip { skip--; next }
    /<.class-decl>/ { on = 0 } { print }' "$dump" >"$tmp/shorter.abi"
! cmp -s "$dump" "$tmp/shorter.abi" || { echo 'abi: no shorter struct'; bad=1; }
compare "$tmp/shorter.abi" || { cat "$tmp/bad"; echo 'abi: refuses a new field'; bad=1; }
[ -s "$tmp/said" ] || { echo 'abi: sees no new field'; bad=1; }
exit $bad
