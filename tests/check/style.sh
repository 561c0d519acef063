#!/bin/sh
# check/style.sh - what of our style a script can see: a licence line in every file,
# a first line that names the file and its job, spaces, and no line past 100 columns
# (90 is the aim). In src/: the first line's path, the licence at the end of the first comment,
# base names for headers of the same room.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
files=$(find Makefile .ci jsprof.pc.in include src bindings debugger examples tests -type f \
    ! -path 'tests/*/corpus/*' ! -path 'tests/*/data/*' ! -path '*/node_modules/*' | sort)
bad=0
for f in $files; do
    case $f in
    *.c | *.h | *.cpp | *.sh | *.py | *.lua | *.js | *.in | *.map | Makefile | */run) ;;
    *) continue ;;
    esac
    grep -q 'SPDX-License-Identifier: MIT' "$f" ||
        { echo "style: $f: no SPDX line"; bad=1; }
    case $f in
    src/*) name=${f#src/} ;;
    *) name=$(basename "$f") ;;
    esac
    case $f in
    src/*.[ch])
        room=$(dirname "$name")
        awk -v name="$name" -v room="$room" -v f="$f" '
            FNR == 1 && index($0, "/* " name " - ") != 1 {
                print "style: " f ":1: does not begin with its path and its job"; bad = 1 }
            !is_over && $0 == " * SPDX-License-Identifier: MIT" { at = FNR }
            !is_over && /\*\// { is_over = 1
                if (at != FNR - 1) {
                    print "style: " f ": the licence does not end the first comment"; bad = 1 } }
            index($0, "#include \"" room "/") == 1 &&
                substr($0, length("#include \"" room "/") + 1) !~ /\// {
                print "style: " f ":" FNR ": a path for a header of the same room"; bad = 1 }
            END { exit bad }' "$f" || bad=1 ;;
    *.c | *.h | *.cpp)
        head -n 1 "$f" | grep -qF -- "$name - " ||
            { echo "style: $f:1: does not name the file and its job"; bad=1; } ;;
    esac
    LC_ALL=C.UTF-8 awk -v f="$f" '
        length > 100 { print "style: " f ":" FNR ": " length " columns"; bad = 1 }
        /\t/ && f !~ /Makefile$/ { print "style: " f ":" FNR ": a tab"; bad = 1 }
        /[ \t]$/ { print "style: " f ":" FNR ": space at the end"; bad = 1 }
        END { exit bad }' "$f" || bad=1
done
exit $bad
