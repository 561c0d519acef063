#!/bin/sh
# symbols/names.sh - every function of libraries and programs has the name that readelf
# gives it: libc, libstdc++, our own, static, fixed and position-independent ones, those
# without section headers; stubs have objdump's names.
#
# SPDX-License-Identifier: MIT
set -eu
. "$SRCDIR/tests/symbols/lib.sh"
readelf=$($CC -print-prog-name=readelf) objdump=$($CC -print-prog-name=objdump)

for name in libc.so.6 libm.so.6 libstdc++.so.6 libgcc_s.so.1 libmozjs-102.so.0; do
    file=$(/sbin/ldconfig -p | sed -n "s/^[[:space:]]*$name (.*64.*) => //p" | head -n 1)
    [ -n "$file" ] || continue
    "$readelf" -sW "$file" >"$tmp/symbols"
    agree "$name" "$tmp/symbols" "$file" symbols
    "$readelf" --debug-dump=frames "$file" >"$tmp/frames" 2>/dev/null || : # it warns
    agree "$name, starts" "$tmp/frames" "$file" starts
done
for file in "$B/bin/jsprof" "$B/lib/libjsprof.so"; do
    "$readelf" -sW "$file" >"$tmp/symbols"
    agree "$(basename "$file")" "$tmp/symbols" "$file" symbols
done

cat >"$tmp/host.c" <<'END'
#include <stdio.h>
#include <string.h>
int exported(int i);
static __attribute__((noinline)) int hidden(int i) { return puts(i ? "x" : "") + i; }
__attribute__((noinline)) int exported(int i) { return hidden(i) + hidden(i + 1); }
int main(int argc, char **argv) { return exported(argc) + (strchr(argv[0], 0) != 0); }
__asm__(".pushsection .text\n.globl unsized\nunsized: nop\nnop\n.popsection");
__asm__(".pushsection .text\n.type outer, %function\nouter: nop\nnop\n"
        ".type inner, %function\ninner: nop\n.size inner, . - inner\n"
        "nop\nnop\n.size outer, . - outer\n.popsection");
END
build() { $CC -O1 -o "$tmp/$1" "$tmp/host.c" $2; }
build pie '-pie -fPIE'
build fixed '-no-pie -fno-pie'
build static -static
build static-pie '-static-pie -fPIE'
build now '-pie -fPIE -fcf-protection=full -Wl,-z,ibtplt,-z,lazy'
for kind in pie fixed static static-pie now; do
    "$readelf" -sW "$tmp/$kind" >"$tmp/symbols"
    agree "$kind" "$tmp/symbols" "$tmp/$kind" symbols
    for f in main hidden exported unsized outer inner; do has "$tmp/$kind" $f; done
done

# objdump labels the stubs itself; those of a static program it calls *ABS*.
for file in "$tmp/pie" "$tmp/fixed" "$tmp/now" "$B/bin/jsprof" "$B/lib/libjsprof.so"; do
    "$objdump" -d "$file" | sed -n 's/^\([0-9a-f]*\) <\([^*>]*\)@plt>:$/\1 \2@plt/p' |
        sed 's/@[A-Z][A-Za-z0-9_.]*@plt/@plt/' | sort >"$tmp/want"
    "$table" "$file" | sed -n 's/^\([0-9a-f]*\) [0-9a-f]* \(.*@plt\)$/\1 \2/p' >"$tmp/got"
    [ -s "$tmp/want" ] || { echo "symbols: $file: objdump sees no stubs"; exit 1; }
    diff "$tmp/want" "$tmp/got" || { echo "symbols: $file: the stubs differ"; exit 1; }
    echo "symbols: $(basename "$file"): $(wc -l <"$tmp/got") stubs, the same"
done
has "$tmp/static" 'strchr@plt'

# What has no size ends at the next thing, or with its section.
ends() # NAME: where ours lets it end
{
    "$table" "$tmp/pie" | sed -n "s/^[0-9a-f]* \([0-9a-f]*\) $1\$/\1/p"
}
section_end=$("$readelf" -SW "$tmp/pie" | sed 's/^ *\[ */[/' |
    awk '$2 == ".init" { print "0x" $4 " + 0x" $6 }')
[ "$(ends _init)" = "$(printf '%016x' $(($section_end)))" ] ||
    { echo "symbols: _init ends at $(ends _init), not at $section_end"; exit 1; }
[ "$(ends outer | wc -l)" = 2 ] || { echo 'symbols: outer is not around inner'; exit 1; }

# Without section headers the loader's own tables still name what is exported.
lib=$tmp/lib.so
$CC -O1 -shared -fPIC -o "$lib" "$tmp/host.c"
"$readelf" --dyn-syms -W "$lib" >"$tmp/symbols"
for field in 40:8 60:2 62:2; do
    dd if=/dev/zero of="$lib" bs=1 seek=${field%:*} count=${field#*:} conv=notrunc \
        2>/dev/null
done
"$readelf" -h "$lib" | grep -q 'Number of section headers: *0'
agree 'no section headers' "$tmp/symbols" "$lib" symbols
has "$lib" hidden not
