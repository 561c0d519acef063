#!/bin/sh
# check/rooms.sh - prove on the object files that the signal-safe room is closed.
#
# All code that the SIGPROF handler can reach is in src/sigsafe/*.o, so it is enough
# that these, linked together, need nothing but the libc names in
# src/sigsafe/ALLOWED, each with its reason. What a symbol table does not show is
# looked up in the disassembly: calls through pointers, which must be written
# x->name_sigsafe(...); system calls of our own; thread-locals that allocate on
# first use; recursion; libc names that would be looked up by their first call; more stack than
# the handler looks for before it continues. One pointer
# of that name leads out by design: drain_sigsafe, NULL but with JSPROF_NO_THREAD. What it
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
# register there, which check 3 can not distinguish from one through any pointer.)
case $($CC --version) in *clang*) eager=no ;; *) eager=yes ;; esac
awk '/R_X86_64_PLT32/ { sub(/[-+]0x[0-9a-f]+$/, ""); print $NF }' "$tmp/code" | sort -u |
    comm -12 - "$tmp/needed" >"$tmp/lazy"
[ $eager = no ] || [ ! -s "$tmp/lazy" ] ||
    say "bound lazily, in the handler: $(tr '\n' ' ' <"$tmp/lazy")"

# 6. One door for system headers.
grep -n '#[[:space:]]*include[[:space:]]*<' src/sigsafe/*.[ch] |
    grep -v '^src/sigsafe/room\.h:' >"$tmp/door" &&
    say "system header past room.h: $(cat "$tmp/door")"

# 7. The stack on each way down, against what src/sigsafe/left.h says of it. A function of
# libc counts for 512 bytes. What is called through a pointer is the host's, or asks itself.
cat $(printf '%s\n' $objects | sed 's/\.o$/.su/') 2>/dev/null |
    awk -F '\t' '{ sub(/.*:/, "", $1); print $1, $2 }' >"$tmp/frames"
[ -s "$tmp/frames" ] || say 'no frame sizes: the compiler wrote no .su files'
deepest() # FROM ENUM EXCEPT...: the bytes of the longest way, but not through these
{
    from=$1 most=$(sed -n "s/^ *$2 = \([0-9]*\),.*/\1/p" src/sigsafe/left.h)
    shift 2
    bytes=$(awk -v from="$from" -v except=" $* " '
        function clean(f) { sub(/\.cold$/, "", f); sub(/\.[0-9]+$/, "", f); return f }
        function depth(f, i, n, list, d, most) {
            if (f in known) return known[f]
            n = split(calls[f], list, " ")
            for (i = 1; i <= n; i++) {
                if (index(except, " " list[i] " ")) continue
                d = depth(list[i])
                most = d > most ? d : most
            }
            return known[f] = most + frame[f] + (f in frame ? 8 : 0)
        }
        FNR == 1 { file++ }
        file == 1 { frame[$1] = $1 ~ /errno_location/ ? 8 : 512; next }
        file == 2 { f = clean($1); if ($2 > frame[f]) frame[f] = $2; next }
        clean($1) != clean($2) { calls[clean($1)] = calls[clean($1)] " " clean($2) }
        END { print from in frame ? depth(from) : "no" }' "$tmp/needed" "$tmp/frames" "$tmp/calls")
    [ "$bytes" -le "$most" ] 2>/dev/null ||
        say "$from may use $bytes bytes of stack, left.h says $most"
    depths="${depths:+$depths, }$bytes of $most"
}
depths=
deepest jsp_sample_handle JSP_STACK_ENTRY sample_take sample_pass_on
deepest jsp_sample_handle JSP_STACK_COUNT sample_keep jsp_hidden sample_pass_on
deepest jsp_sample_handle JSP_STACK_NEED sample_pass_on
deepest jsp_backtrace JSP_STACK_NEED
deepest jsp_resume_switch JSP_STACK_NEED

[ $bad = 0 ] || exit 1
set -- $objects
echo "rooms: $# files reach $(wc -l <"$tmp/needed") libc names, all allowed, and make" \
    "$n_pointer pointer calls, all named; stack: $depths"
