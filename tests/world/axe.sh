#!/bin/sh
# world/axe.sh - the page for people who do not see it, or not as others do: what axe-core finds.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/browser/lib.sh"
need axe-core
pages
./known labels >labels.cap
"$jsprof" html labels.cap -o labels.html || bad=1
drive axe.js "$tmp/source.html" "$tmp/change.html" "$tmp/listing.html" "$tmp/labels.html"
driven
