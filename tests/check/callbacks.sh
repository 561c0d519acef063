#!/bin/sh
# check/callbacks.sh - the binding's ..._sigsafe functions run in the SIGPROF handler
# too, but are outside the room: follow their calls, and let them leave the binding
# only for the names in callbacks.allowed.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
[ -x "$B/bin/gjs-console" ] || { echo 'SKIP: needs libmozjs-VERSION-dev libgjs-dev g++'; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
allowed=${1:-tests/check/callbacks.allowed}
sed 's/^#.*//; s/[[:space:]][[:space:]]*#.*//; /^$/d' "$allowed" | sort -u >"$tmp/allowed"

# Once for each SpiderMonkey that it was built for.
for folder in "$B"/obj/bindings/mozjs/[0-9]*; do
    version=${folder##*/}
    $($CC -print-prog-name=ld) -r -o "$tmp/binding.o" "$folder"/*.o
    $($CC -print-prog-name=objdump) -drw "$tmp/binding.o" >"$tmp/code"
    awk '
        function base(name) { sub(/\.cold.*/, "", name); return name } # split-off parts
        /^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); f = base(f); own[f] = 1; next }
        !/[[:space:]](call|j[a-z]+|bl?)[[:space:]]/ { next }
        / R_(X86_64|AARCH64)_/ { to = $NF; sub(/[-+]0x[0-9a-f]+$/, "", to) }
        !/ R_(X86_64|AARCH64)_/ {
            if (!match($0, /<[^>+]+/)) next
            to = substr($0, RSTART + 1, RLENGTH - 1)
        }
        to !~ /^\.text/ { calls[f] = calls[f] " " base(to) }
        END {
            for (f in own) if (f ~ /_sigsafe/) { seen[f] = 1; queue[++last] = f }
            for (i = 1; i <= last; i++) {
                n = split(calls[queue[i]], c, " ")
                for (k = 1; k <= n; k++)
                    if (!(c[k] in seen)) { seen[c[k]] = 1; queue[++last] = c[k] }
            }
            for (i = 1; i <= last; i++) print queue[i] in own ? "own" : "out", queue[i]
        }' "$tmp/code" >"$tmp/reached"
    grep -q '^own .*_sigsafe' "$tmp/reached" || { echo 'callbacks: found none'; exit 1; }
    sed -n 's/^out //p' "$tmp/reached" | c++filt | sed 's/(.*//' | sort -u |
        comm -23 - "$tmp/allowed" >"$tmp/bad"
    [ ! -s "$tmp/bad" ] || { echo "callbacks: reach $(cat "$tmp/bad")"; exit 1; }
    n=$(grep -c '^own' "$tmp/reached")
    echo "callbacks: SpiderMonkey $version: $n functions, all they reach is allowed"
done
