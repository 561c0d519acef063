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
# With OBJECT=FILE, show the same of an object that holds the whole library, compiled with -g:
# of all that the functions of src/sigsafe can reach in it. The stack (7) is compared if
# FILE's .su lies beside it.
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
whole=${OBJECT:-}

# Print the functions of an object's disassembly that those named in a file can reach. A
# reference to a section is one to the function there: the compiler moves parts of functions. An
# instruction of zeros has its target in the relocation, and seems to lead to the next one.
reachable() # ROOTS DISASSEMBLY
{
    awk '
        function number(hex, i, n) {
            for (i = 1; i <= length(hex); i++)
                n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
            return n
        }
        function reach(f, i, n, list) {
            if (f in seen || !(f in known)) return
            seen[f] = 1
            n = split(to[f], list, " ")
            for (i = 1; i <= n; i++) reach(list[i])
        }
        FILENAME == ARGV[1] { root[$1] = 1; next }
        /^Disassembly of section / { section = $4; sub(/:$/, "", section); next }
        /^[0-9a-f]+ <.*>:$/ {
            f = $2; gsub(/[<>:]/, "", f)
            if (f in known) f = f "@" section
            known[f] = 1; order[++n_functions] = f
            starts[section, ++n_starts[section]] = number($1)
            at_start[section, number($1)] = f
        }
        { text[f] = text[f] $0 "\n" }
        /(e8|e9|0f 8[0-9a-f]) 00 00 00 00/ { next }
        match($0, /[[:space:]](call|bl|jmp|b|j[a-z]+|b\.[a-z]+)[[:space:]].*<[^>+]+/) {
            target = substr($0, RSTART, RLENGTH); sub(/.*</, "", target); to[f] = to[f] " " target
        }
        / R_(X86_64|AARCH64)_/ || /: R_(X86_64|AARCH64)_/ {
            target = $NF; add = 0
            if (match(target, /[-+]0x[0-9a-f]+$/)) {
                add = number(substr(target, RSTART + 3))
                if (substr(target, RSTART, 1) == "-") add = -add
                target = substr(target, 1, RSTART - 1)
            }
            if (target ~ /^\.text/) moved[f] = moved[f] " " target ":" add + ($0 ~ /X86/ ? 4 : 0)
            else to[f] = to[f] " " target
        }
        END {
            for (f in moved) {
                n = split(moved[f], list, " ")
                for (i = 1; i <= n; i++) {
                    split(list[i], part, ":")
                    for (k = n_starts[part[1]]; k > 1 && starts[part[1], k] > part[2] + 0; k--) ;
                    to[f] = to[f] " " at_start[part[1], starts[part[1], k]]
                }
            }
            for (f in root) {
                reach(f)
                for (g in known) if (index(g, f ".") == 1) reach(g)
            }
            for (i = 1; i <= n_functions; i++) if (order[i] in seen) printf "%s", text[order[i]]
        }' "$1" "$2"
}

# 1. Names.
sed 's/#.*//; s/[[:space:]]//g; /^$/d' src/sigsafe/ALLOWED | sort -u >"$tmp/allowed"
grep -vE '^[[:space:]]*(#|$)|[^[:space:]][[:space:]]+#[[:space:]]*[^[:space:]]' \
    src/sigsafe/ALLOWED >"$tmp/out" && say "allowed without a reason: $(cat "$tmp/out")"
$(tool nm) -u "${whole:-$tmp/room.o}" | awk '{ print $NF }' | sort -u >"$tmp/needed"
$(tool objdump) -dlr "${whole:-$tmp/room.o}" >"$tmp/code"
if [ -n "$whole" ]; then
    $(tool nm) "$tmp/room.o" | awk '$2 ~ /^[Tt]$/ { print $3 }' | sort -u >"$tmp/roots"
    mv "$tmp/code" "$tmp/all"
    reachable "$tmp/roots" "$tmp/all" >"$tmp/code"
    awk '/R_(X86_64|AARCH64)_/ { sub(/[-+]0x[0-9a-f]+$/, ""); print $NF }' "$tmp/code" |
        sort -u | comm -12 - "$tmp/needed" >"$tmp/reached"
    mv "$tmp/reached" "$tmp/needed"
    # clang makes no tail calls there, but jump tables: a jump through a register is one.
    case $($CC --version) in *clang*) indirect='[[:space:]]callq? +\*' ;; esac
fi
grep -qE "[[:space:]]$kernel([[:space:]]|\$)" "$tmp/code" &&
    echo system-call-instruction >>"$tmp/needed"
for name in $(sort "$tmp/needed" | comm -23 - "$tmp/allowed"); do
    [ -z "$whole" ] || say "the room reaches outside: $name"
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
    case $at in *'<artificial>'*) at=${whole%/*}/jsprof.c:${at##*:} ;; esac # after LTO
    sed -n "${at##*:}p" "${at%:*}" 2>/dev/null |
        grep -qE '(->|\.)[a-z_]+_sigsafe\(' ||
        say "${at##*src/}: call through a pointer that is not named ..._sigsafe"
done <"$tmp/pointer"

# 4. Recursion: the calls inside the room, sorted topologically.
awk -v call="$call" '
    /^[0-9a-f]+ <.*>:$/ { f = $2; gsub(/[<>:]/, "", f); next }
    /(e8|ff 15) 00 00 00 00/ { next } # its relocation follows
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
# (Nor in an object that holds the whole library: see tests/pkg/amalgamation.sh.)
case $whole$($CC --version) in *clang* | *.o*) eager=no ;; *) eager=yes ;; esac
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
cat $(printf '%s\n' ${whole:-$objects} | sed 's/\.o$/.su/') 2>/dev/null |
    awk -F '\t' '{ sub(/.*:/, "", $1); print $1, $2 }' >"$tmp/frames"
[ -s "$tmp/frames" ] || [ -n "$whole" ] || say 'no frame sizes: the compiler wrote no .su files'
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
if [ -s "$tmp/frames" ]; then
    deepest jsp_sample_handle JSP_STACK_ENTRY sample_take sample_pass_on
    deepest jsp_sample_handle JSP_STACK_COUNT sample_keep jsp_hidden jsp_again jsp_delay_begin \
        sample_pass_on
    deepest jsp_sample_handle JSP_STACK_NEED sample_pass_on
    deepest jsp_backtrace JSP_STACK_NEED
    deepest jsp_resume_switch JSP_STACK_NEED
fi

[ $bad = 0 ] || exit 1
set -- $objects
echo "rooms: $# files reach $(wc -l <"$tmp/needed") libc names, all allowed, and make" \
    "$n_pointer pointer calls, all named; stack: $depths"
