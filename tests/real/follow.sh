#!/bin/sh
# real/follow.sh - --follow: a command answers again while its capture grows, and ends when the
# capture is complete, has no writer any more or is removed.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
pid=
trap 'kill $pid 2>/dev/null || :; rm -rf "$tmp"' EXIT
half=$(($(wc -c <killed.cap) * 3 / 4))

# follow CAPTURE COMMAND...: in the background, as $pid. It does not inherit what writes.
follow()
{
    capture=$1
    shift
    : >out
    : >err
    "$jsprof" "$@" --follow "$capture" >out 2>err 3>&- &
    pid=$!
    ran="jsprof $* --follow $capture"
}

# until_true COMMAND...: wait, 30 s at most.
until_true()
{
    tries=0
    until "$@"; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || { wrong "never: $*"; return 1; }
        sleep 0.1
    done
}

ends() # STATUS
{
    rc=0
    until_true eval '! kill -0 $pid 2>/dev/null' || kill $pid
    wait $pid || rc=$?
    pid=
    is_rc "$1"
}

blocks() { awk -v RS= 'END { print NR }' out; }
has_blocks() { [ "$(blocks)" -ge "$1" ]; }
last() { awk -v RS= '{ s = $0 } END { print s }' out; }
complains() { grep -qF -- "$1" err; }

begin() # a capture that somebody writes
{
    head -c $half killed.cap >grow.cap
    exec 3>>grow.cap
}
grow() { tail -c +$((half + 1)) killed.cap >&3; }
complete() { printf '\1' | dd of=grow.cap bs=1 seek=80 conv=notrunc 2>/dev/null; }

for command in 'report --csv' 'tree --csv' 'threads --csv' 'list --csv' 'info --json'; do
    begin
    # shellcheck disable=SC2086
    follow grow.cap $command
    until_true has_blocks 1
    [ "$(blocks)" = 1 ] || wrong 'answers before the capture has grown'
    grow
    until_true has_blocks 2
    complete
    ends 0
    # shellcheck disable=SC2086
    "$jsprof" $command grow.cap >once
    last | diff - once >diff.txt || wrong 'ends with another answer than without --follow'
    exec 3>&-
    has_blocks 3 || wrong 'does not answer again when the capture is complete'
    is_err ''
done

# A capture that is complete is answered once.
follow good.cap report
ends 0
"$jsprof" report good.cap | cmp -s - out || wrong 'differs from the answer without --follow'

# One that its writer leaves incomplete ends, where the system shows who has it open.
begin
follow grow.cap report --csv
until_true has_blocks 1
grow
exec 3>&-
ends 0
is_err 'jsprof: grow.cap: its writer has gone without completing it'

# One that is cut, or gets another file, is read anew. One that is removed ends.
begin
follow grow.cap report --csv
until_true has_blocks 1
grow
until_true has_blocks 2
head -c $half killed.cap >grow.cap
until_true complains 'jsprof: grow.cap: was cut: reading it anew'
until_true has_blocks 3
cp killed.cap other.cap
exec 3>>other.cap
mv other.cap grow.cap
until_true complains 'jsprof: grow.cap: another file has this name: reading that one'
until_true has_blocks 4
rm grow.cap
ends 1
complains 'jsprof: grow.cap: was removed' || wrong 'does not say that the file was removed'

# A file that has nothing yet is waited for. An interrupt ends without an error.
: >grow.cap
exec 3>>grow.cap
follow grow.cap report --csv
until_true complains 'jsprof: grow.cap: empty file'
cat killed.cap >&3
until_true has_blocks 1
kill -TERM $pid
ends 0
exec 3>&-

# A command that writes a file writes it anew, whole each time.
for command in 'html -o' 'convert --to csv -o' 'merge -o'; do
    rm -f made
    begin
    # shellcheck disable=SC2086
    follow grow.cap $command made
    until_true test -s made
    cp made first
    grow
    until_true eval '! cmp -s made first'
    complete
    ends 0
    is_err ''
    exec 3>&-
    # shellcheck disable=SC2086
    "$jsprof" $command once grow.cap
    cmp -s made once || wrong 'leaves another file than without --follow'
done
run convert --to csv --follow good.cap
is_rc 2
again='--follow writes the output again and again: name a file with -o'
is_err "jsprof: $again (try: jsprof --help)"

# What can not be followed.
run report --follow absent.cap
is_rc 1
is_err 'jsprof: absent.cap: No such file or directory'
run report --follow - <good.cap
is_rc 2
is_err 'jsprof report: --follow wants files by name, not - (try: jsprof report --help)'
for command in view ps top serve push; do
    run $command --follow good.cap
    is_rc 2
    is_err "jsprof $command: unknown option --follow (try: jsprof $command --help)"
done
run record --follow 1
is_rc 2
is_err 'jsprof record: --follow is for a program (try: jsprof record --help)'
run report --follow --nonsense good.cap
is_rc 2
run info --follow good.cap good.cap good.cap good.cap good.cap good.cap good.cap good.cap good.cap
is_rc 2
is_err 'jsprof info: --follow: more than 8 captures (try: jsprof info --help)'
exit $bad
