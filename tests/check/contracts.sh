#!/bin/sh
# check/contracts.sh - each function that a header declares has its own comment directly before it,
# and a field that is "Constant after ..." is assigned only in the files that make it.
#
# contracts.owed has the headers that are not there yet, each with the number of its functions
# without a comment of their own. A number may only go down.
#
# A heading "Constant after init." or the like covers the fields up to the next empty line or
# heading. The files that may assign them are x.c for x.h, and those that the heading names in
# brackets: "Constant after open (make.c, child.c)." An assignment is one through a pointer to
# the struct, such as p->hz = 1.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
find src include -name '*.h' | sort >"$tmp/headers"

# The functions without a comment on the line before: "file:line: name".
xargs awk '
    FNR == 1 { in_comment = depth = has_comment = continues = 0; statement = "" }
    continues || (!in_comment && /^[ \t]*#/) { continues = /\\$/; next }
    /^[ \t]*$/ && !in_comment { if (statement == "" && depth == 0) has_comment = 0; next }
    {
        rest = $0; code = ""
        while (rest != "")
            if (in_comment) {
                if (!(i = index(rest, "*/")))
                    break
                rest = substr(rest, i + 2); in_comment = 0
                if (statement == "" && depth == 0 && code !~ /[^ \t]/)
                    has_comment = 1
            } else if ((i = index(rest, "/*"))) {
                code = code substr(rest, 1, i - 1); rest = substr(rest, i + 2); in_comment = 1
            } else {
                code = code rest; rest = ""
            }
        gsub(/"([^"\\]|\\.)*"/, "S", code); gsub(/\047([^\047\\]|\\.)*\047/, "C", code)
        n = length(code)
        for (k = 1; k <= n; k++) {
            c = substr(code, k, 1)
            if (statement == "" && depth == 0) {
                if (c ~ /[ \t]/)
                    continue
                line = FNR; own = has_comment; has_comment = 0
            }
            if (c == "{") {
                if (depth == 0 && statement ~ /^extern S/) { statement = ""; continue }
                if (depth++ == 0)
                    head = statement
                statement = statement c
            } else if (c == "}" && depth > 0) {
                if (--depth == 0 && is_function(head)) { found(head); statement = "" }
            } else if (depth == 0 && c == ";") {
                if (is_function(statement))
                    found(statement)
                statement = ""
            } else if (depth == 0 && c != "}")
                statement = statement c
        }
        if (statement != "")
            statement = statement " "
    }
    function is_function(s) {
        return s ~ /[A-Za-z0-9_] *\(/ && s !~ /=/ && s !~ /^(typedef|_Static_assert)/ &&
               s !~ /^(struct|enum|union)[^(]*[{]/
    }
    function found(s) {
        n_functions++
        if (own)
            return
        sub(/ *\(.*/, "", s); sub(/.*[ *]/, "", s)
        print FILENAME ":" line ": " s
    }
    END { print n_functions + 0 >"'"$tmp/n"'" }' <"$tmp/headers" >"$tmp/bare"
[ "$(cat "$tmp/n")" -gt 1000 ] || { echo "contracts: only $(cat "$tmp/n") functions"; exit 1; }
awk -F : 'FILENAME ~ /owed$/ { split($0, row, " "); owed[row[2]] = row[1]; next }
    { names[$1] = names[$1] "\n    " $2 ":" $3; n[$1]++ }
    END {
        for (f in n) {
            if (n[f] > owed[f])
                print f ": " n[f] " functions have no comment directly before them, " \
                      owed[f] + 0 " are owed:" names[f]
        }
    }' tests/check/contracts.owed "$tmp/bare" >"$tmp/out"
[ ! -s "$tmp/out" ] || { echo "contracts: $(cat "$tmp/out")"; bad=1; }

# The constant fields that are assigned elsewhere.
find src -name '*.c' | sort >"$tmp/sources"
cat "$tmp/headers" "$tmp/sources" | xargs awk '
    FNR == 1 { name = base = FILENAME; sub(/.*\//, "", base); sub(/[^\/]*$/, "", name)
        is_header = FILENAME ~ /\.h$/; group = in_heading = 0; split("", type) }
    is_header && /^(struct|union) [a-z_]+ [{]/ { within = $2 }
    is_header && /Constant after/ {
        in_heading = group = 1; files = " " base; sub(/\.h$/, ".c", files) }
    in_heading { text = $0
        while (match(text, /[a-z_]+\.c/)) {
            files = files " " substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH) }
        if (/\*\//) in_heading = 0
        next }
    is_header && (/^ *$/ || /^ *\/\*/ || /^[}]/) { group = 0 }
    is_header && group {
        gsub(/\/\*.*/, ""); gsub(/\([a-z_ *,]*\);/, ";"); gsub(/\[[^]]*\]/, "")
        while (match($0, /[a-z_0-9]+\)? *[,;]/)) {
            field = substr($0, RSTART, RLENGTH); gsub(/[^a-z_0-9]/, "", field)
            constant[within, field] = files " "; n_fields++
            $0 = substr($0, RSTART + RLENGTH) }
        next }
    is_header { next }
    {
        text = $0
        while (match(text, /struct [a-z_0-9]+ \*(const )?[a-z_]+/)) {
            split(substr(text, RSTART, RLENGTH), word, /[ *]+/)
            type[word[3] == "const" ? word[4] : word[3]] = word[2]
            text = substr(text, RSTART + RLENGTH) }
        text = $0
        while (match(text, /[a-z_]+->[a-z_0-9]+(\.[a-z_0-9.]+)? *[-+|&]?=[^=]/)) {
            at = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH - 1)
            split(at, part, /->|[. =+|&-]/); owner = type[part[1]]
            field = part[2] == "" ? part[3] : part[2]
            if ((owner, field) in constant && index(constant[owner, field], " " base " ") == 0)
                print FILENAME ":" FNR ": assigns " owner "." field ", which is constant" }
    }
    END { if (n_fields < 20) print "only " n_fields + 0 " constant fields" }' >"$tmp/out"
[ ! -s "$tmp/out" ] || { echo "contracts: $(cat "$tmp/out")"; bad=1; }
echo "contracts: $(cat "$tmp/n") functions, $(wc -l <"$tmp/bare") owe a comment of their own"
exit $bad
