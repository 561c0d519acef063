#!/bin/sh
# export/outfile.sh - an output file is replaced whole or not at all, and no other file
# stays.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/export/lib.sh"

"$jsprof" convert --to folded good.cap >whole
alone() { [ "$(ls -A d)" = "$1" ] || wrong "leaves $(ls -A d)"; }
mkdir d

run convert -o d/x.folded good.cap
is_rc 0
alone x.folded
cmp whole d/x.folded || wrong 'differs from standard output'
run convert -od/x.folded good.cap
is_rc 0
cmp whole d/x.folded || wrong 'differs with the name right behind -o'
run convert --to folded --output=- - <good.cap
cmp out whole || wrong 'differs through - and -'

# The file is replaced as a whole: a reader that has the old one open reads the old one. Its mode
# stays.
echo old >d/x.folded
chmod 604 d/x.folded
exec 3<d/x.folded
run convert -o d/x.folded good.cap
is_rc 0
[ "$(cat <&3)" = old ] || wrong 'wrote into the old file'
cmp whole d/x.folded || wrong 'is not what was to be written'
[ "$(stat -c %a d/x.folded)" = 604 ] || wrong 'changed the mode'

# Through a link, the file that it leads to is replaced.
ln -s d/x.folded link.folded
echo old >d/x.folded
run convert -o link.folded good.cap
[ -L link.folded ] || wrong 'replaced the link'
cmp whole d/x.folded || wrong 'did not follow the link'

# What is read is not replaced, whatever it is called.
cp good.cap own.cap
cp own.cap own.kept
ln -s own.cap soft.cap
ln own.cap hard.cap
spares() # NAME ARGUMENTS...: NAME is what it would have lost
{
    what=$1
    shift
    run "$@" <own.cap
    is_rc 1
    is_err "jsprof: $what: is also the output: nothing is written"
    cmp -s own.cap own.kept && [ -L soft.cap ] && [ hard.cap -ef own.cap ] ||
        wrong 'replaced what it read'
}
for name in own.cap soft.cap hard.cap ./own.cap "$PWD/own.cap"; do
    spares own.cap convert --to json -o $name own.cap
    spares $name convert --to json -o own.cap $name
    spares own.cap html -o $name good.cap own.cap
    spares own.cap merge good.cap own.cap -o $name
done
spares 'standard input' convert --to json -o own.cap -
spares 'standard input' merge good.cap - -o hard.cap
ran='convert own.cap >>own.cap'
rc=0
"$jsprof" convert --to json own.cap >>own.cap 2>err || rc=$?
is_rc 1
cmp -s own.cap own.kept || wrong 'wrote to the end of what it read'
run convert --to json -o absent.json own.cap
is_rc 0

# What fails leaves the old file.
echo old >d/x.folded
run convert -o d/x.folded empty.cap
is_rc 1
is_err 'jsprof: empty.cap: no samples in this capture'
[ "$(cat d/x.folded)" = old ] || wrong 'touched the old file'
alone x.folded
tail -c +257 good.cap >tail
for _ in $(seq 10); do cat tail tail >twice; mv twice tail; done
cat good.cap tail >long.cap
ran='convert where no file may grow'
: >out
{ rc=0
    (ulimit -f 0; trap '' XFSZ; "$jsprof" convert -o d/x.folded long.cap 2>&1) || rc=$?
    echo $rc >status; } | cat >err
rc=$(cat status)
is_rc 1
[ "$(tail -n 1 err)" = 'jsprof: d/x.folded: File too large' ] || wrong 'does not say why'
[ "$(cat d/x.folded)" = old ] || wrong 'touched the old file'
alone x.folded

# A signal in the middle of writing, as SIGXFSZ is when nobody ignores it.
ran='convert, ended by a signal'
{ rc=0
    (ulimit -f 0; "$jsprof" convert -o d/x.folded long.cap 2>&1) || rc=$?
    echo $rc >status; } | cat >err
rc=$(cat status)
[ "$rc" -gt 128 ] || wrong "was not ended by the signal: $rc"
[ "$(cat d/x.folded)" = old ] || wrong 'touched the old file'
alone x.folded

# No place to write, no right to.
run convert -o absent/x.folded good.cap
is_rc 1
is_err 'jsprof: absent/x.folded: No such file or directory'
run convert --to folded -o d good.cap
is_rc 1
is_err 'jsprof: d: Is a directory'
rc=0
"$jsprof" convert --to folded good.cap >/dev/full 2>err || rc=$?
is_rc 1
is_err 'jsprof: standard output: No space left on device'
run convert --to folded -o /dev/null good.cap
is_rc 0

# A reader that went away is no error.
{ rc=0
    "$jsprof" convert --to folded long.cap 2>err || rc=$?
    echo $rc >status; } | head -c 1 >out
rc=$(cat status)
ran='convert | head -c 1'
is_rc 0
! grep -v 'malformed record' err || wrong 'complains of its reader'

run convert good.cap
is_rc 2
run convert --to gif good.cap
is_rc 2
run convert -o
is_rc 2
is_err 'jsprof convert: -o wants a value (try: jsprof convert --help)'
run convert --o x good.cap
is_rc 2
is_err 'jsprof convert: unknown option --o (try: jsprof convert --help)'
exit $bad
