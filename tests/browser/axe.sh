#!/bin/sh
# browser/axe.sh - the page for people who do not see it, or not as others do: what axe-core finds.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/browser/lib.sh"
need axe-core
pages
drive axe.js "$tmp/source.html" "$tmp/change.html" "$tmp/listing.html"
exit $bad
