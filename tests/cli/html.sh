#!/bin/sh
# cli/html.sh - what `jsprof html` writes and refuses; how the page looks and behaves in a
# browser is in tests/browser.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

wrong() # WHAT: without the page, which is long
{
    echo "$ran: $1"
    sed 's/^/  err: /' err
    bad=1
}

run html good.cap -o page.html
is_rc 0
is_err ''
[ "$(head -n 1 page.html)" = '<!doctype html>' ] || wrong 'does not begin as a page'
[ "$(tail -n 1 page.html)" = '</html>' ] || wrong 'does not end as a page'
cp page.html out
has '"label":"good.cap"'
has '"names":["main (/srv/app/start.js:1:1)"'
has '"places":[0,22,21,23]'
[ "$(grep -ci '<script' out)" -eq 3 ] || wrong 'has not three script elements'

# It can not ask for anything: its policy says so, and no address is in it.
has "content=\"default-src 'none'; img-src data:; script-src 'sha256-"
! grep -oE 'https?:|//[a-z]+\.[a-z]+|@import|url\(' out || wrong 'names an address'

run html good.cap -o -
is_rc 0
cmp -s out page.html || wrong 'differs by standard output'
run html - --output=again.html <good.cap
is_rc 0
sed 's/"standard input"/"good.cap"/' again.html | cmp -s - page.html ||
    wrong 'differs by standard input'
run html big.cap -o big.html
sed 's/"big.cap"/"good.cap"/' big.html | cmp -s - page.html || wrong 'differs by byte order'
run html good.cap big.cap -o two.html
is_rc 0
cp two.html out
has '"label":"good.cap"'
has '"label":"big.cap"'
run html --thread 200 good.cap -o thread.html
is_rc 0
cp thread.html out
hasnt 'leaf, '
run html --vm merged.cap -o vm.html
is_rc 0
cp vm.html out
has '"hidden":336'

# Names leave neither the JSON nor its element, and no byte acts on a terminal.
run html evil.cap -o evil.html
is_rc 0
LC_ALL=C grep -q "$(printf '[\001-\010\013-\037]')" evil.html && wrong 'has control characters'
iconv -f UTF-8 -t UTF-8 evil.html >/dev/null || wrong 'is not UTF-8'

run html good.cap
is_rc 2
is_err 'jsprof html: where to? -o PAGE.html (or -o - for standard output) (try: jsprof html --help)'
run html -o x.html
is_rc 2
is_err 'jsprof html: no capture named (try: jsprof html --help)'
run html good.cap good.cap good.cap -o x.html
is_rc 2
run html - - -o x.html
is_rc 2
is_err 'jsprof html: standard input is only there once (try: jsprof html --help)'
run html nothing.cap -o page.html
is_rc 1
is_err 'jsprof: nothing.cap: No such file or directory'
run html empty.cap -o page.html
is_rc 1
is_err 'jsprof: empty.cap: no samples in this capture'
run html --only nothing good.cap -o page.html
is_rc 1
is_err 'jsprof: good.cap: no samples in what was chosen of this capture'
run html --only nothing good.cap big.cap -o page.html
is_rc 1
is_err 'jsprof: page.html: one of the captures has no chosen samples'
run html good.cap -o nowhere/page.html
is_rc 1
[ "$(wc -l <err)" -eq 1 ] || wrong 'does not say one line'
grep -q 'good.cap' page.html || wrong 'lost the page that was there'
[ ! -e x.html ] || wrong 'wrote a page that was refused'
{ "$jsprof" html good.cap -o - 2>err; echo $? >rc; } | head -c 100 >/dev/null
[ ! -s err ] && [ "$(cat rc)" = 0 ] || wrong 'complains of a reader that went away'
# Source files come into a page on request, below a limit, and only as text.
mkdir src
printf 'the source </script>\n' >src/leaf.js
head -c 1100000 /dev/zero | tr '\0' x >src/start.js
run html --map "/srv/app=$tmp/src" good.cap -o plain.html
is_rc 0
! grep -q 'the source' plain.html || wrong 'contains a source that nobody asked for'
! grep -q '"sources":' plain.html || wrong 'has sources'
run html --sources --map "/srv/app=$tmp/src" good.cap -o sources.html
is_rc 0
[ "$(grep -c 'the source' sources.html)" -eq 1 ] || wrong 'does not contain the source once'
! grep -q 'the source </script>' sources.html || wrong 'ends its own script'
! grep -q xxxxxxxxxxxx sources.html || wrong 'contains a file above the limit'
[ ! -s err ] || wrong 'complains of sources'

# A capture can name any file. What does not look like a source stays out.
printf 'a secret\n' >src/secret
printf '#!/usr/bin/gjs\nthe script\n' >src/script
printf '.js: a secret\n' >src/.js
for name in secret .js; do
    run html --sources --map "/srv/app/leaf.js=$tmp/src/$name" good.cap -o refused.html
    is_rc 0
    is_err "jsprof: good.cap: $tmp/src/$name does not look like a source: not in the page"
    ! grep -q 'a secret' refused.html || wrong "contains $name"
done
run html --sources --map "/srv/app/leaf.js=$tmp/src/script" good.cap -o script.html
is_err ''
grep -q 'the script' script.html || wrong 'lacks a script without an end to its name'

# The bytecode comes with the sources, and from both forms of a capture.
run html listing.cap -o plain.html
! grep -q '"listings"' plain.html || wrong 'contains a listing that nobody asked for'
run html --sources listing.cap -o listing.html
is_rc 0
is_err ''
cp listing.html out
has '"rows":[0,3,2,0,0,0],'
has '"listings":[[1,10,20,"push 1",12,21,"unless \"18\"",16,22,"again\u001b[31m 10",18,23,'
"$jsprof" convert --to compact -o small.cap listing.cap || wrong 'does not convert'
run html --sources small.cap -o small.html
grep -o '"rows":.*"spans"' listing.html >rows
grep -o '"rows":.*"spans"' small.html | cmp -s - rows || wrong 'has other rows by the compact form'
run html --sources listing.cap listing.cap -o two.html
! grep -q '"listings"' two.html || wrong 'compares operations of two captures'
exit $bad
