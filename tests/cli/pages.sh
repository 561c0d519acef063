#!/bin/sh
# cli/pages.sh - the manual pages are sound for mandoc and for groff, name every public
# function, and are of this version.
#
# SPDX-License-Identifier: MIT
set -eu
for tool in mandoc man; do
    command -v $tool >/dev/null || { echo "SKIP: needs $tool"; exit 77; }
done
cd "$SRCDIR"
bad=0
for page in docs/man/*.[1-9]; do
    # Its style rules ask for lines shorter than ours.
    mandoc -T lint -W warning "$page" || bad=1
    said=$(LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" \
        2>&1 >/dev/null) || bad=1
    [ -z "$said" ] || { echo "$page: $said"; bad=1; }
    name=$(basename "$page")
    name=${name%.*}
    mandoc -T utf8 "$page" | sed 's/.\x08//g' | grep -q "^ *$name " ||
        { echo "$page: has no NAME of $name"; bad=1; }
done
for page in jsprof.1 jsprof.3 jsprof-read.3 jsprof-capture.5 jsprof.7; do
    [ -f docs/man/$page ] || { echo "there is no $page"; bad=1; }
done
names() # HEADER WORDS LEAST: its page names each function whose declaration has these words
{
    declared=$(grep -v '^[[:space:]]*#' "include/$1.h" | tr '\n' ' ' | sed 's/[;{}]/&\n/g' |
        grep -E "$2" | grep -oE '\bjsprof_[a-z_]+ ?\(' | tr -d ' (' | sort -u)
    [ "$(echo "$declared" | wc -l)" -gt "$3" ] || { echo "too few functions: $declared"; bad=1; }
    for function in $declared; do
        sed 's/\\-/-/g' "docs/man/$1.3" | grep -qE "(^|[^a-z_])$function([^a-z_]|\$)" ||
            { echo "$1.3 does not name $function"; bad=1; }
    done
}
names jsprof 'JSPROF_(COLD|OWNER|SIGSAFE);' 40
names jsprof-read JSPROF_READ_API 20
exit $bad
