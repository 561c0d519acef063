# browser/lib.sh - for the tests of the page: a browser and what drives it, or a skip.
# Sourced; BROWSER is firefox or, by default, chromium. Sets tmp, jsprof, node; `pages` makes pages
# of known captures; `drive SCRIPT ARGUMENTS...` queues a script, and `driven` runs all of the
# queue in one browser, and exits.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
. "$SRCDIR/tests/node/lib.sh"
need playwright-core
if [ "${BROWSER:=chromium}" = firefox ]; then
    FIREFOX=$(command -v firefox-esr || command -v firefox) ||
        { echo 'SKIP: needs firefox-esr'; exit 77; }
else
    CHROMIUM=$(command -v chromium) || { echo 'SKIP: needs chromium'; exit 77; }
fi
export BROWSER CHROMIUM FIREFOX HOME="$tmp"
unset DISPLAY WAYLAND_DISPLAY

pages()
{
    $CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/tests" -o known "$SRCDIR/tests/browser/captures.c"
    for name in before after evil deep stairs marks pulse many loop listing; do
        ./known $name >$name.cap
        "$jsprof" html $name.cap -o $name.html || bad=1
    done
    mkdir lib
    for line in $(seq 61); do
        echo "line $line </script><script>alert(1)</script>"
    done >lib/parse.js
    for name in before:source loop:loop listing:listing; do
        "$jsprof" html --sources --map "/srv/app/lib=$tmp/lib" ${name%:*}.cap \
            -o ${name#*:}.html || bad=1
    done
    "$jsprof" html before.cap after.cap -o change.html || bad=1
}

queue=
drive() { queue="$queue${queue:+ -- }$*"; } # SCRIPT ARGUMENTS...

driven()
{
    # shellcheck disable=SC2086
    "$node" "$SRCDIR/tests/browser/all.js" $queue || bad=1
    exit $bad
}
