#!/bin/sh
# cli/manual.sh - the manual page and the completions know each command and each option
# that the help knows, and no other.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

# Options a text names, one a line; `\-` is a dash in a manual page.
options() { sed 's/\\-/-/g' "$@" | grep -oE -- '--[a-z][a-z-]*' | sort -u; }

for command in info report tree dump; do
    "$jsprof" help $command
    echo "--help"
done | options >helped
echo '--version' | sort -m - helped >all
for text in completion/jsprof.bash completion/_jsprof; do
    ran="options in $text"
    : >err
    options "$SRCDIR/$text" >found
    diff all found >out || wrong 'differ from those of the help'
done
ran='options in docs/man/jsprof.1'
options "$SRCDIR/docs/man/jsprof.1" >found
grep -v -e --help helped | diff - found >out || wrong 'differ from those of the help'
for command in info report tree dump; do
    grep -q "^.BR $command\$" "$SRCDIR/docs/man/jsprof.1" || wrong "no command $command"
done
ran='manual page'
version=$("$jsprof" --version)
grep -qF "\"$version\"" "$SRCDIR/docs/man/jsprof.1" || wrong "is not of $version"

command -v bash >/dev/null || { echo 'SKIP: needs bash'; exit 77; }
completes() # LINE...: the candidates for its last word
{
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _jsprof
             printf "%s\n" "${COMPREPLY[@]}"' - "$SRCDIR/completion/jsprof.bash" "$@" >out
    ran="completing $*"
}
completes jsprof re
has report
lines 1
completes jsprof report --so
has --sort
lines 1
completes jsprof report --sort na
has name
completes jsprof report go
has good.cap
exit $bad
