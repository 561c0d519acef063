#!/bin/sh
# embed.sh PAGE - print the C source of a page: PAGE with the files that it names put in,
# cut where the data goes. Needs what every Debian has: sh, awk, sed, od, sha256sum,
# base64.
#
#     @@file NAME    this file's text, from PAGE's folder, the whole line
#     @@hash NAME    anywhere in a line: what a content security policy says to allow
#                    the script or style between <NAME> and </NAME>
#     @@meta, @@data the data of a profile, the whole line
#
# SPDX-License-Identifier: MIT
set -eu
dir=$(dirname "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

while IFS= read -r line; do
    case $line in
    @@file\ *) cat "$dir/${line#@@file }" ;;
    *) printf '%s\n' "$line" ;;
    esac
done <"$1" >"$tmp/page"

hash() # NAME: of the text between the lines <NAME> and </NAME>
{
    # An element's text begins and ends right at its tags, so with the line breaks.
    { echo; sed "1,/^<$1>\$/d; /^<\\/$1>\$/,\$d" "$tmp/page"; } | sha256sum |
        awk '{
            for (i = 1; i < 64; i += 2)
                printf "%s%03o", "\\", 16 * hex(substr($1, i, 1)) + hex(substr($1, i + 1, 1))
        }
        function hex(digit) { return index("0123456789abcdef", digit) - 1 }' >"$tmp/octal"
    printf "$(cat "$tmp/octal")" | base64
}

sed "s|@@hash style|'sha256-$(hash style)'|; s|@@hash script|'sha256-$(hash script)'|" \
    "$tmp/page" >"$tmp/hashed"
awk -v tmp="$tmp" '
    BEGIN { out = tmp "/head" }
    $0 == "@@meta" { out = tmp "/middle"; next }
    $0 == "@@data" { out = tmp "/tail"; next }
    { print >out }' "$tmp/hashed"

printf '/* Made by src/page/browser/embed.sh. */\n#include "page/page.h"\n'
for part in head middle tail; do
    printf '\nconst unsigned char jsp_page_frame_%s[] = {\n' "$part"
    od -An -v -tu1 "$tmp/$part" | sed 's/ \{1,\}/,/g; s/^,//; s/$/,/'
    printf '};\nconst unsigned int jsp_page_frame_%s_size = sizeof jsp_page_frame_%s;\n' \
        "$part" "$part"
done
