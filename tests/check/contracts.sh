#!/bin/sh
# check/contracts.sh - each function of a header has a contract of its own: a comment directly
# before it, which serves no other function. Each has a body somewhere. A field under a comment
# "Constant ..." is assigned in no file but the header's own .c and those that the comment names.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Functions. A comment serves what follows it up to an empty line; the title of a section
# ("-- name.c") is no contract. The contract of an inline function that was declared before is
# that of the declaration.
awk '
function finish(    name, has_body) {
    has_body = text ~ /\{/
    gsub(/"[^"]*"/, "", text)
    name = text
    text = ""
    if (name !~ /\(/ || name ~ /^[^(]*=/ || name ~ /^ *(typedef|union|_Static_assert|extern)/ ||
        name ~ /^ *(struct|enum) *[a-z_0-9]* *[{;]/)
        return
    gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)|alignas\([^)]*\)/, "", name)
    sub(/ *\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    if (name !~ /[a-z]/)
        return # a macro
    if (has_body && (name in declared)) return
    if (!has_body) {
        declared[name]
        print name, FILENAME ":" first >"'"$tmp"'/declared"
    }
    functions++
    if (!contract) print FILENAME ":" first ": " name " has no comment"
    else if (served++) print FILENAME ":" first ": " name " shares the comment of another function"
}
FNR == 1 { delete declared; text = ""; depth = inside = contract = continued = 0 }
continued || (/^[ \t]*#/ && !inside) { continued = /\\$/; next }
/^[ \t]*$/ && !depth && !inside { contract = 0; next }
{
    rest = $0
    code = ""
    while (rest != "") {
        if (!inside) {
            at = index(rest, "/*")
            if (!at) { code = code rest; break }
            code = code substr(rest, 1, at - 1)
            title = substr(rest, at) ~ /^\/\* --[^:]*(\*\/)?$/
            rest = substr(rest, at + 2)
            inside = 1
        }
        at = index(rest, "*/")
        if (!at) break
        rest = substr(rest, at + 2)
        inside = 0
        if (text code rest ~ /^[ \t]*$/ && !depth) { contract = !title; served = 0 }
    }
    if (code ~ /^[ \t]*$/ || code ~ /^extern "C" *\{/ || (code ~ /^}/ && !depth)) next
    if (text == "") first = FNR
    text = text " " code
    depth += gsub(/\{/, "{", code) - gsub(/}/, "}", code)
    if (!depth && code ~ /[;}][ \t]*$/) finish()
}
END { print functions >"'"$tmp"'/count" }
' $(find src include -name '*.h' | sort) >"$tmp/bad"
n=$(cat "$tmp/count")
[ "$n" -ge 1600 ] || echo "only $n functions found" >>"$tmp/bad"

# Bodies. A name is the word before the first parenthesis, since the last empty line or semicolon.
# shellcheck disable=SC2046
awk '
function finish(    name) {
    name = text
    text = ""
    if (name !~ /\(/) return
    gsub(/__attribute__ *\(\([^)]*(\([^)]*\))?[^)]*\)\)/, "", name)
    sub(/ *\(.*/, "", name)
    sub(/.*[ *]/, "", name)
    defined[name]
}
NR == FNR { declared[$1] = $2; next }
FNR == 1 || /^$/ { text = "" }
text != "" || /^[a-z_A-Z]/ { text = text " " $0 }
/^[a-z_A-Z].*\{/ || /^\{/ { finish() }
/;$/ { text = "" }
END {
    for (name in declared)
        if (!(name in defined)) print declared[name] ": " name " has no body"
}
' "$tmp/declared" $(find src include bindings -name '*.[ch]' -o -name '*.cpp') >>"$tmp/bad"
[ "$(wc -l <"$tmp/declared")" -ge 1400 ] || echo 'found few declarations' >>"$tmp/bad"

# Fields. The first pass notes who may assign each, the second finds who does: through a variable
# that the file has declared last as one of the struct, or as a pointer to it.
awk '
function stem(path) { sub(/.*\//, "", path); return path }
FNR == 1 { delete type; of = "" }
pass == 1 {
    if ($0 ~ /^struct [a-z_0-9]+ \{/) { of = $2; depth = 1; constant = 0; next }
    if ($0 ~ /^}/) { of = ""; next }
    if (of == "") next
    if ($0 ~ /^    \/\*/) {
        words = $0
        line = $0
        while (line !~ /\*\/ *$/ && (getline line) > 0) words = words " " line
        if (words ~ /^ *\/\* Constant/) { constant = 1; owners = words }
        next
    }
    if ($0 ~ /^[ \t]*$/) constant = 0 # the end of the group
    if (!constant || $0 !~ /;/) next
    line = $0
    sub(/;.*/, "", line)
    sub(/\/\*.*/, "", line)
    gsub(/alignas\([^)]*\)/, "", line)
    if (line ~ /\(\*/) { sub(/\)\(.*/, "", line); sub(/.*\(\*/, "", line) }
    n = split(line, part, /,/)
    for (i = 1; i <= n; i++) {
        name = part[i]
        sub(/\[.*/, "", name); sub(/ *$/, "", name); sub(/.*[ *]/, "", name)
        own = stem(FILENAME); sub(/\.h$/, "", own)
        may[of, name] = owners " " own ".c " own ".h "
        fields++
    }
    next
}
{
    line = $0
    while (match(line, /struct [a-z_0-9]+ \*?(const )?[a-z_0-9]+/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        split(word, part, / /)
        var = word; sub(/.*[ *]/, "", var)
        type[var] = part[2]
    }
    line = $0
    while (match(line, /[a-z_0-9]+(->|\.)[a-z_0-9]+[a-z_0-9.\[\]]* *([-+|&]?=[^=]|\+\+|--)/)) {
        word = substr(line, RSTART, RLENGTH)
        before = RSTART > 1 ? substr(line, RSTART - 1, 1) : " "
        line = substr(line, RSTART + RLENGTH)
        var = word; sub(/(->|\.).*/, "", var)
        sub(/^[a-z_0-9]+(->|\.)/, "", word)
        sub(/[^a-z_0-9].*/, "", word)
        if (before ~ /[.>]/ || !((type[var], word) in may)) continue
        if (index(may[type[var], word], stem(FILENAME)) == 0)
            print FILENAME ":" FNR ": assigns " type[var] "." word ", which is constant"
    }
}
END { if (fields < 20) print "only " fields + 0 " constant fields found" }
' pass=1 $(find src -name '*.h' | sort) pass=2 $(find src -name '*.[ch]' | sort) >>"$tmp/bad"

if [ -s "$tmp/bad" ]; then
    sed 's/^/contracts: /' "$tmp/bad"
    exit 1
fi
echo "contracts: $n functions, each with its own"
