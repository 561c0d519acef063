#!/bin/sh
# browser/page.sh - the page of a known capture in a real browser: figures, clicks, keys,
# search, the range of time, the switches, sandwich, tables, dark mode; and no request.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/browser/lib.sh"
pages
"$jsprof" html calls.cap -o calls.html && "$jsprof" html calls.cap calls2.cap -o calls2.html ||
    bad=1
"$jsprof" html --sources listing.cap -o bare.html || bad=1
drive graph.js "$tmp/before.html" "$tmp/deep.html" "$tmp/stairs.html" "$tmp/many.html"
drive narrow.js "$tmp/before.html"
drive address.js "$tmp/before.html" "$tmp/evil.html"
drive tables.js "$tmp/before.html" "$tmp/calls.html" "$tmp/calls2.html" \
    "$tmp/marks.html" "$tmp/source.html" "$tmp/loop.html" \
    "$tmp/listing.html" "$tmp/bare.html"
drive tasks.js "$tmp/source.html" "$tmp/change.html" "$tmp/pulse.html"
drive heat.js "$tmp/pulse.html" "$tmp/change.html"
drive timeline.js "$tmp/before.html"
drive compare.js "$tmp/change.html"
"$jsprof" html states.cap -o states.html || bad=1
drive states.js "$tmp/states.html" "$tmp/before.html"
"$jsprof" html tasks.cap -o tasks.html || bad=1
drive spans.js "$tmp/tasks.html" "$tmp/many.html" "$tmp/before.html"
drive hostile.js "$tmp/evil.html"
driven
