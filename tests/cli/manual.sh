#!/bin/sh
# cli/manual.sh - the manual page knows each command and each option that the help knows,
# and no other; every help fits a screen.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

# Options a text names, one a line; `\-` is a dash in a manual page.
options() { sed 's/\\-/-/g' "$@" | grep -oE -- '--[a-z][a-z-]*' | sort -u; }

commands=$("$jsprof" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -l)" -ge 4 ] || { echo "too few commands: $commands"; exit 1; }
for command in $commands; do
    "$jsprof" help "$command"
done | options >helped
ran='options in docs/man/jsprof*.1'
: >err
# jsprof-gjs and jsprof-lua are programs of their own.
find "$SRCDIR/docs/man" -name 'jsprof*.1' ! -name jsprof-gjs.1 \
    ! -name jsprof-lua.1 -exec cat {} + >pages
options pages | grep -v -e --help -e --version >found
grep -v -e --help -e --version helped | diff - found >out ||
    wrong 'differ from those of the help'
for command in $commands; do
    grep -q "^.BR \\?$command\$" "$SRCDIR/docs/man/jsprof.1" || wrong "no command $command"
    run help "$command"
    lines_of_help=$(wc -l <out)
    [ "$lines_of_help" -le 24 ] || wrong "$lines_of_help lines do not fit a screen of 24"
    ! grep -nE '.{81}' out || wrong 'does not fit 80 columns'
done
ran='manual page of convert'
"$jsprof" convert --help | sed -n 's/^ *--to \([a-z|]*\)$/\1/p' | tr '|' '\n' >formats
[ "$(wc -l <formats)" -ge 8 ] || wrong 'has too few formats'
while read -r format; do
    grep -q "^.BR $format \"" "$SRCDIR/docs/man/jsprof-convert.1" || wrong "no $format"
done <formats
ran='manual page'
version=$("$jsprof" --version)
for page in "$SRCDIR"/docs/man/*; do
    grep -qF "\"$version\"" "$page" || wrong "$page is not of $version"
done
exit $bad
