#!/bin/sh
# cli/errors.sh - what can not be read is said in one line with the file and the
# reason, status 1; what can not be meant, with a hint, status 2.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

refuses() # FILE REASON
{
    for command in info threads list report tree 'callers main' 'callees main' dump; do
        function=${command#* }
        [ "$function" != "$command" ] || function=
        run ${command% *} "$1" $function
        is_rc 1
        is_err "jsprof: $1: $2"
        lines 0
    done
}

: >nothing
mkdir folder
printf '\177ELF and more' >elf
printf '\136\227\312\375\001\001' >short
{ printf '\136\227\312\375\007'; tail -c +6 good.cap; } >newer
refuses nothing 'empty file'
refuses folder 'Is a directory'
refuses absent 'No such file or directory'
refuses elf 'not a Sysprof capture (starts with 7f 45 4c 46)'
refuses short 'cut inside the file header (6 of 256 bytes)'
refuses newer 'capture format version 7, this jsprof reads version 1'
printf 'x' >"$(printf 'e\033[1m')"
run info "$(printf 'e\033[1m')"
is_err 'jsprof: e\x1b[1m: not a Sysprof capture (starts with 78)'
run report - <nothing
is_err 'jsprof: standard input: empty file'
# A pipe without end is refused by its first bytes.
(ulimit -v 1000000; exec "$jsprof" info - </dev/zero) >out 2>err || true
ran='info - of an endless pipe'
is_err 'jsprof: standard input: not a Sysprof capture (starts with 00 00 00 00)'

run report --source-maps /nonexistent good.cap
is_rc 1
is_err 'jsprof: /nonexistent: No such file or directory'
run report --measure alloc calls.cap
is_rc 1
is_err 'jsprof: calls.cap: no sampled allocations in this capture'
run convert --to chrome --measure alloc good.cap -o out.json
is_rc 2
run convert --to chrome --measure time good.cap -o out.json
is_rc 0

for command in threads report tree 'callers x'; do
    run $command empty.cap
    is_rc 1
    is_err 'jsprof: empty.cap: no samples in this capture'
    run $command --thread nobody good.cap
    is_rc 1
    is_err 'jsprof: good.cap: no thread "nobody" (there are: 100 main, 200 helper two)'
done

run threads --process hos good.cap
is_rc 1
is_err 'jsprof: good.cap: no samples of a process "hos" (there are: 100)'

misuses() # MESSAGE ARGUMENTS...
{
    message=$1
    shift
    run "$@"
    is_rc 2
    is_err "$message"
    lines 0
}
misuses 'jsprof: no command given (try: jsprof --help)'
misuses 'jsprof: no command "reprot", perhaps report? (try: jsprof --help)' reprot
misuses 'jsprof: no command "exit" (try: jsprof --help)' exit
misuses 'jsprof: unknown option --colour (try: jsprof --help)' --colour
misuses 'jsprof report: unknown option --speed (try: jsprof report --help)' \
    report --speed=9 good.cap
misuses 'jsprof report: unknown option -x (try: jsprof report --help)' report -x good.cap
misuses 'jsprof report: no capture named (try: jsprof report --help)' report
misuses 'jsprof threads: one capture at a time (try: jsprof threads --help)' threads a b
misuses 'jsprof report: --limit wants a number, not "-1" (try: jsprof report --help)' \
    report --limit -1 good.cap
misuses 'jsprof report: --limit wants a value (try: jsprof report --help)' report --limit
misuses 'jsprof report: --csv takes no value (try: jsprof report --help)' report --csv=1
keys='self, total, samples and name'
misuses "jsprof report: --sort knows $keys, not \"age\" (try: jsprof report --help)" \
    report --sort age good.cap
misuses 'jsprof tree: --min wants a percentage from 0 to 100, not "nan" (try: jsprof tree --help)' \
    tree --min nan good.cap

known='idle, gc, compile, memory, wait, io, script, jit, host, kernel, library, native, other'
known="no category \"cache\" (there are: $known)"
misuses "jsprof report: --category: $known (try: jsprof report --help)" \
    report --category cache good.cap
misuses 'jsprof html: -o wants a value (try: jsprof html --help)' html good.cap -o
misuses 'jsprof report: unknown option -limit, perhaps --limit? (try: jsprof report --help)' \
    report -limit=3 good.cap
for command in report dump; do
    run $command --symbols absent good.cap
    is_rc 1
    is_err 'jsprof: absent: No such file or directory'
    run $command --symbols elf good.cap
    is_rc 1
    is_err 'jsprof: elf: Not a directory'
done

# A full disk is an error, a reader that went away is not.
rc=0
"$jsprof" dump good.cap >/dev/full 2>err || rc=$?
: >out
ran='jsprof dump >/dev/full'
is_rc 1
is_err 'jsprof: standard output: No space left on device'
# More than a pipe holds, so that the tool still writes when its reader leaves.
cp good.cap long.cap
for _ in $(seq 100); do tail -c +257 good.cap; done >>long.cap
{ "$jsprof" dump long.cap 2>err; echo $? >status; } | head -c 1 >out
ran='jsprof dump | head -c 1'
rc=$(cat status)
is_rc 0
[ "$(grep -cv 'malformed record' err)" = 0 ] || wrong 'complains of its reader'
exit $bad
