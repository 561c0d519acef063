#!/bin/sh
# check/rooms.sh - prove on the object files that the signal-safe room is closed.
#
# Whatever the SIGPROF handler can reach stands in src/sigsafe/*.o, so it is enough
# that these, linked together, need nothing but the libc names in
# src/sigsafe/ALLOWED, each with its reason. What a symbol table does not show is
# looked up in the disassembly: calls through pointers, which must be written
# x->name_sigsafe(...); system calls of our own; thread-locals that allocate on
# first use; recursion; libc names that would be looked up by their first call. One pointer
# of that name leads out by design: offer_sigsafe, NULL but with JSPROF_NO_THREAD. What it
# may do, where, tests/signal/alone_test.c shows.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
bad=0
say() { echo "rooms: $*"; bad=1; }
tool() { $CC -print-prog-name="$1"; }

case $($CC -dumpmachine) in
x86_64*) call=call kernel=syscall indirect='[[:space:]](call|jmp)q? +\*' ;;
aarch64*) call=bl kernel=svc indirect='[[:space:]](blr|br)[[:space:]]' ;;
*) echo 'SKIP: needs x86-64 or aarch64'; exit 77 ;;
esac

objects=
for c in src/sigsafe/*.c; do
    objects="$objects $B/obj/${c%.c}.o"
done
[ "$objects" != " $B/obj/src/sigsafe/*.o" ] || { say 'src/sigsafe is empty'; exit 1; }
$(tool ld) -r -o "$tmp/room.o" $objects

# 1. Names.
sed 's/#.*//; s/[[:space:]]//g; /^$/d' src/sigsafe/ALLOWED | sort -u >"$tmp/allowed"
grep -vE '^[[:space:]]*(#|$)|[^[:space:]][[:space:]]+#[[:space:]]*[^[:space:]]' \
    src/sigsafe/ALLOWED >"$tmp/out" && say "allowed without a reason: $(cat "$tmp/out")"
$(tool nm) -u "$tmp/room.o" | awk '{ print $NF }' | sort -u >"$tmp/needed"
$(tool objdump) -dlr "$tmp/room.o" >"$tmp/code"
grep -qE "[[:space:]]$kernel([[:space:]]|\$)" "$tmp/code" &&
    echo system-call-instruction >>"$tmp/needed"
for name in $(sort "$tmp/needed" | comm -23 - "$tmp/allowed"); do
    for o in $objects; do
        $(tool nm) -u "$o" | awk '{ print $NF }' | grep -qxF -- "$name" &&
            say "$(basename "$o" .o).c reaches outside the room: $name"
    done
    [ "$name" != system-call-instruction ] || say 'makes a system call of its own'
done

# 2. Thread-locals whose first use may allocate.
grep -oE 'R_[A-Z0-9_]*(TLSGD|TLSLD|TLSDESC)[A-Z0-9_]*' "$tmp/code" >"$tmp/tls" &&
    say "thread-local that is not initial-exec: $(sort -u "$tmp/tls")"

# 3. Calls through pointers, found again by their source line.
awk -v re="$indirect" '
    /^[^ ].*:[0-9]+( \(discriminator [0-9]+\))?$/ { at = $1 }
    $0 ~ re && !/\(%rip\)/ { print at == "" ? "?" : at }' "$tmp/code" |
    sort -u >"$tmp/pointer"
n_pointer=0
while IFS= read -r at; do
    n_pointer=$((n_pointer + 1))
    sed -n "${at##*:}p" "${at%:*}" 2>/dev/null |
        grep -qE '(->|\.)[a-z_]+_sigsafe\(' ||
        say "${at##*src/}: call through a pointer that is not named ..._sigsafe"
done <"$tmp/pointer"

# 4. Recursion: the calls inside the room, sorted topologically.
awk -v call="$call" '
    /^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); next }
    $0 ~ "[[:space:]]" call "[[:space:]]" && match($0, /<[^>+]+>/) {
        print f, substr($0, RSTART + 1, RLENGTH - 2)
    }
    /R_X86_64_(PLT32|PC32|GOTPCRELX)|R_AARCH64_CALL26/ {
        sub(/[-+]0x[0-9a-f]+$/, ""); print f, $NF
    }' "$tmp/code" | sort -u >"$tmp/calls"
awk '$1 == $2' "$tmp/calls" >"$tmp/self"
[ ! -s "$tmp/self" ] || say "calls itself: $(sort -u "$tmp/self")"
tsort "$tmp/calls" >/dev/null 2>"$tmp/loop" ||
    say "functions call each other in a circle: $(tr '\n' ' ' <"$tmp/loop")"

# 5. Names that a host linked without -z now would look up by their first call.
# (On aarch64 and with clang they are: what would bind them early is a call through a
# register there, which check 3 can not tell from one through any pointer.)
case $($CC --version) in *clang*) eager=no ;; *) eager=yes ;; esac
awk '/R_X86_64_PLT32/ { sub(/[-+]0x[0-9a-f]+$/, ""); print $NF }' "$tmp/code" | sort -u |
    comm -12 - "$tmp/needed" >"$tmp/lazy"
[ $eager = no ] || [ ! -s "$tmp/lazy" ] ||
    say "bound lazily, in the handler: $(tr '\n' ' ' <"$tmp/lazy")"

# 6. One door for system headers.
grep -n '#[[:space:]]*include[[:space:]]*<' src/sigsafe/*.[ch] |
    grep -v '^src/sigsafe/room\.h:' >"$tmp/door" &&
    say "system header past room.h: $(cat "$tmp/door")"

[ $bad = 0 ] || exit 1
set -- $objects
echo "rooms: $# files reach $(wc -l <"$tmp/needed") libc names, all allowed, and make" \
    "$n_pointer pointer calls, all named"
