#!/bin/sh
# browser/firefox.sh - the page in Debian's Firefox, driven by WebDriver BiDi.
#
# SPDX-License-Identifier: MIT
BROWSER=firefox
. "$SRCDIR/tests/browser/lib.sh"
need axe-core
pages
drive tasks.js "$tmp/source.html" "$tmp/change.html" "$tmp/pulse.html"
drive heat.js "$tmp/pulse.html" "$tmp/change.html"
drive timeline.js "$tmp/before.html"
drive compare.js "$tmp/change.html"
drive narrow.js "$tmp/before.html"
./known labels >labels.cap
"$jsprof" html labels.cap -o labels.html || bad=1
drive axe.js "$tmp/source.html" "$tmp/change.html" "$tmp/listing.html" "$tmp/labels.html"
driven
