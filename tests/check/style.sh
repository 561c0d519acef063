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
# shellcheck disable=SC2086
LC_ALL=C.UTF-8 awk '
    function say(text) { print "style: " text; bad = 1 }
    function end() { if (file != "" && !has_licence) say(file ": no SPDX line") }
    function begin() {
        end()
        file = FILENAME; seen[file] = 1
        has_licence = is_over = 0; at = -1
        name = file
        in_src = sub(/^src\//, "", name)
        if (!in_src) sub(/.*\//, "", name)
        is_c = file ~ /\.[ch]$/
        room = name; sub(/\/[^\/]*$/, "", room)
        if (in_src && is_c && index($0, "/* " name " - ") != 1)
            say(file ":1: does not begin with its path and its job")
        if (!in_src && file ~ /\.(c|h|cpp)$/ && !index($0, name " - "))
            say(file ":1: does not name the file and its job")
    }
    FNR == 1 { begin() }
    /SPDX-License-Identifier: MIT/ { has_licence = 1 }
    in_src && is_c {
        if (!is_over && $0 == " * SPDX-License-Identifier: MIT") at = FNR
        if (!is_over && /\*\//) {
            is_over = 1
            if (at != FNR - 1) say(file ": the licence does not end the first comment")
        }
        if (index($0, "#include \"" room "/") == 1 &&
            substr($0, length("#include \"" room "/") + 1) !~ /\//)
            say(file ":" FNR ": a path for a header of the same room")
    }
    length > 100 { say(file ":" FNR ": " length " columns") }
    /\t/ && file !~ /Makefile$/ { say(file ":" FNR ": a tab") }
    /[ \t]$/ { say(file ":" FNR ": space at the end") }
    END {
        end()
        for (i = 1; i < ARGC; i++)
            if (!(ARGV[i] in seen)) say(ARGV[i] ": is empty")
        if (ARGC < 100) say("only " ARGC - 1 " files")
        exit bad
    }' $(find Makefile .ci jsprof.pc.in include src bindings debugger examples tests -type f \
    ! -path 'tests/*/corpus/*' ! -path 'tests/*/data/*' ! -path '*/node_modules/*' \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.py' -o -name '*.lua' \
    -o -name '*.js' -o -name '*.in' -o -name '*.map' -o -name Makefile -o -path '*/run' \) | sort)
