#!/bin/sh
# pkg/hosts.sh - the programs of examples/hosts: each embeds an interpreter of the distribution,
# unchanged, and records a program that spends three quarters of its time in one function and
# one quarter in another, all on one line. Where the interpreter has a hook, a second run counts.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "hosts: $*"; exit 1; }
command -v pkg-config >/dev/null || { echo 'SKIP: needs pkg-config'; exit 77; }
tried= skipped=

# The total share of a function must be within five standard deviations of the truth: of n
# samples with chance p, sqrt(p (1 - p) / n).
share() # NAME EXPECTED
{
    "$B/bin/jsprof" report --vm --limit 0 "$tmp/cap" >"$tmp/report"
    awk -v name="$1" -v p="$2" '
        /samples? · / { n = $1 }
        $0 ~ " " name " \\(([^ ]*/)?shares[.]" {
            found = 1
            for (i = 1; i <= 8; i++) if ($i ~ /%$/) last = $i + 0
        }
        END {
            if (!found || !n) { print name " is not in the report"; exit 1 }
            off = last / 100 - p; if (off < 0) off = -off
            printf "%s: %.1f%% of %d samples\n", name, last, n
            exit off > 5 * sqrt(p * (1 - p) / n) + 0.001
        }' "$tmp/report" || { cat "$tmp/report"; fail "the share of $1 is not $2"; }
}
line() # FILE: most of the time is on the line that says so
{
    want=$(grep -n 'the line of most samples' "$1" | cut -d : -f 1)
    "$B/bin/jsprof" report --vm --by line --limit 3 "$tmp/cap" >"$tmp/report"
    grep -m 1 '%.*shares\.' "$tmp/report" | grep -q "shares\.[a-z]*:$want\b" ||
        { cat "$tmp/report"; fail "line $want of $1 is not the hottest"; }
}

build() # NAME FLAGS...: a program of examples/hosts
{
    name=$1
    shift
    $CC -std=gnu11 -O2 -Wall -Wextra ${WERROR:-} -Iinclude -o "$tmp/$name" \
        "examples/hosts/$name/$name.c" "$B/lib/libjsprof.a" "$@" -pthread ||
        fail "$name.c does not build"
}
system() { "$@" | sed 's/-I/-isystem /g'; } # print flags; the headers may give warnings
record() # NAME PROGRAM [MODES]: with the variables of the environment
{
    (cd "examples/hosts/${2%/*}" &&
        JSPROF="$tmp/cap" JSPROF_CALLS=${3:-} "$tmp/$1" "${2#*/}") ||
        fail "$1 ended with an error"
}
shares() # NAME PROGRAM [BEFORE]: BEFORE comes before the name of a function
{
    share "${3:-}large" 0.75
    share "${3:-}small" 0.25
    line "examples/hosts/$2"
    tried="$tried $1"
}
counted() # FUNCTION CALLS: exactly so many
{
    grep -E "^ *$(printf %d "$2" | sed 's/\([0-9]\)\([0-9]\{3\}\)$/\1,\2/') .* $1 " \
        "$tmp/calls" >/dev/null || { cat "$tmp/calls"; fail "$1 was called $2 times"; }
}
counts() # NAME PROGRAM ROUNDS [BEFORE]
{
    record "$1" "$2" all
    "$B/bin/jsprof" calls --limit 0 "$tmp/cap" >"$tmp/calls"
    counted "${4:-}spin" $((2 * $3))
    counted "${4:-}large" "$3"
    counted "${4:-}small" "$3"
    counted "${4:-}caught" 100
    counted "${4:-}fails" 100
    ! grep 'Leaves without' "$tmp/calls" || fail "$1 counts more leaves than enters"
}
collected() # NAME: its program asks for five collections, and there may be more
{
    awk '$NF == "[collect]" && $1 >= 5 { found = 1 } END { exit !found }' "$tmp/calls" ||
        { cat "$tmp/calls"; fail "$1 collected at least 5 times"; }
}
run() # NAME FILE [MODES]: a program of this test
{
    JSPROF="$tmp/cap" JSPROF_CALLS=${3:-} JSPROF_CLOCK=wall "$tmp/$1" "$tmp/$2" ||
        fail "$1 ended with an error in $2"
}

if pkg-config --exists python-3.11-embed; then
    # shellcheck disable=SC2046 # words
    build python $(system pkg-config --cflags --libs python-3.11-embed)
    record python python/shares.py
    shares python python/shares.py
    counts python python/shares.py 600
    collected python
    cat >"$tmp/threads.py" <<'END_OF_PROGRAM'
import threading


def spin(n):
    total = 0
    for i in range(n):
        total += i * i


def elsewhere(depth):
    spin(100) if depth == 0 else elsewhere(depth - 1)


def loop():
    while not is_over:
        elsewhere(60)


is_over = False
threads = [threading.Thread(target=loop) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(1000):
    spin(10000)
is_over = True
for thread in threads:
    thread.join()
END_OF_PROGRAM
    # Other threads run deep stacks while the handler walks the first one's.
    run python threads.py
else
    skipped="$skipped python (needs python3-dev of CPython 3.11)"
fi

is_unseen() # FUNCTION: in no sample
{
    "$B/bin/jsprof" report --vm --limit 0 "$tmp/cap" >"$tmp/report"
    grep -q " samples\{0,1\} " "$tmp/report" && ! grep -q "$1" "$tmp/report" ||
        { cat "$tmp/report"; fail "$1 did not run in this thread"; }
}

has() { echo "#include <$1>" | $CC -E ${2:-} - >/dev/null 2>&1; } # a header, with these flags
links() # FLAGS...
{
    echo 'int main(void) { return 0; }' | $CC -xc - -xnone -o "$tmp/links" "$@" 2>/dev/null
}

if has mruby.h; then
    build mruby -lmruby -lm
    (cd examples/hosts/ruby && "$tmp/mruby" shares.rb "$tmp/cap") ||
        fail 'mruby ended with an error'
    shares mruby ruby/shares.rb
else
    skipped="$skipped mruby (needs libmruby-dev)"
fi

perl=$(perl -MExtUtils::Embed -e ccopts 2>/dev/null) || perl=
# Its headers come with perl itself, its library does not.
if [ -n "$perl" ] && has perl.h "$perl -include EXTERN.h" &&
    links $(perl -MExtUtils::Embed -e ldopts); then
    # shellcheck disable=SC2046 # words
    build perl $(system echo "$perl") $(perl -MExtUtils::Embed -e ldopts)
    record perl perl/shares.pl
    shares perl perl/shares.pl
    counts perl perl/shares.pl 300
    # Perl frees the code of each sub, and the next one's may have its address.
    echo 'for (1 .. 50) { eval "sub s$_ { 1 } s$_()"; undef &{"s$_"} }' >"$tmp/freed.pl"
    run perl freed.pl all
    "$B/bin/jsprof" calls --limit 0 "$tmp/cap" >"$tmp/calls"
    for i in $(seq 50); do counted "s$i" 1; done
else
    skipped="$skipped perl (needs libperl-dev)"
fi

tcl=/usr/include/tcl8.6
tcl="-isystem $tcl/tcl-private/generic -isystem $tcl/tcl-private/unix -isystem $tcl"
if has tclCompile.h "$tcl"; then
    # shellcheck disable=SC2086 # words
    build tcl $tcl -ltcl8.6
    record tcl tcl/shares.tcl
    shares tcl tcl/shares.tcl
    counts tcl tcl/shares.tcl 300
    cat >"$tmp/freed.tcl" <<'END_OF_PROGRAM'
for {set i 0} {$i < 30} {incr i} { # the lambda may get the address of what is freed
    proc gone {} { error "nobody calls it" }
    rename gone {}
    apply [list {} "string length $i; for {set k 0} {\$k < 29999} {incr k} {format %d 1}"]
}
END_OF_PROGRAM
    run tcl freed.tcl
    is_unseen gone
    printf 'proc "a}b" {} { return 1 }\na}b\n' >"$tmp/quoted.tcl"
    run tcl quoted.tcl all
    "$B/bin/jsprof" calls --limit 0 "$tmp/cap" >"$tmp/calls"
    counted 'a}b' 1
else
    skipped="$skipped tcl (needs tcl8.6-dev)"
fi

ruby=$(ls /usr/lib/*/pkgconfig/ruby-3.*.pc 2>/dev/null | sed -n '1s|.*/\(.*\)\.pc|\1|p')
if [ -n "$ruby" ]; then
    # shellcheck disable=SC2046 # words
    build ruby $(system pkg-config --cflags --libs "$ruby") -Wno-deprecated-declarations
    record ruby ruby/shares.rb
    shares ruby ruby/shares.rb Object#
    counts ruby ruby/shares.rb 600 Object#
    collected ruby
    cat >"$tmp/threads.rb" <<'END_OF_PROGRAM'
def collects
  200.times { GC.start }
end
other = Thread.new { collects }
sleep 0.2
other.join
END_OF_PROGRAM
    run ruby threads.rb
    is_unseen collects
else
    skipped="$skipped ruby (needs ruby-dev)"
fi
[ -z "$skipped" ] || echo "hosts: not here:$skipped"
[ -n "$tried" ] || { echo "SKIP:$skipped"; exit 77; }
echo "hosts:$tried"
