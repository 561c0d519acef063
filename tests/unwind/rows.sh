#!/bin/sh
# unwind/rows.sh - our rows of real files' .eh_frame are those that readelf reads.
#
# A fixed few by default; LONG=1: every file below /usr/lib and /usr/bin.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
. tests/unwind/common.sh
need readelf binutils
need_x86
build rows

if [ -n "${LONG:-}" ]; then
    find /usr/lib /usr/bin /usr/sbin -xdev -type f -size +4k ! -name '*.a' ! -name '*.o' \
        ! -name '*.debug' -print0 >"$out/files"
    status=0 # of the batches that have tables at all
    xargs -0 -n 400 "$out/rows" <"$out/files" >"$out/rows.out" || status=$?
    awk '/^all: / { files += $2; rows += $6; differ += $9; refused += $11 }
         / differ, .* refused$/ && !/^all: / && !/ 0 differ, .* 0 refused$/ { print }
         END { print files " files, " rows " rows of readelf, " differ " differ, " refused \
                     " FDEs refused"
               exit !(files > 100 && rows > 1000000 && differ + refused == 0) }' "$out/rows.out"
    exit
fi

set -- "$out/rows" "$B/lib/libjsprof.so"
for name in libc.so.6 ld-linux-x86-64.so.2 libstdc++.so.6 libmozjs-102.so.0 libgcrypt.so.20 \
    libglib-2.0.so.0 libcrypto.so.3 libgmp.so.10 libLLVM-14.so.1; do
    for dir in /lib/x86_64-linux-gnu /usr/lib/x86_64-linux-gnu; do
        [ ! -f "$dir/$name" ] || { set -- "$@" "$dir/$name"; break; }
    done
done
"$@"

# The comparison can fail: one instruction of a copy's program says something else.
case $(readelf -SW "$B/lib/libjsprof.so" | grep ' \.eh_frame ') in '') exit 1 ;; esac
cat >"$out/other" <<'END'
#!/bin/sh
readelf "$@" | sed 's/ rsp+24 / rsp+32 /'
END
chmod +x "$out/other"
! READELF=$out/other "$out/rows" "$B/lib/libjsprof.so" >"$out/rows.out" ||
    { echo 'rows: a wrong reading was not noticed'; exit 1; }
