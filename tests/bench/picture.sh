#!/bin/sh
# picture.sh BUILD - make docs/html.png anew: the page of BUILD/demo.cap in Chromium.
#
# SPDX-License-Identifier: MIT
set -eu
B=$1
SRCDIR=$(cd "$(dirname "$0")/../.." && pwd)
. "$SRCDIR/tests/node/lib.sh"
need playwright-core
CHROMIUM=$(command -v chromium) || { echo 'picture.sh: needs chromium' >&2; exit 1; }
export CHROMIUM
page=$(mktemp -d)
trap 'rm -rf "$page"' EXIT
"$B/bin/jsprof" html "$B/demo.cap" -o "$page/demo.html"
"$node" "$SRCDIR/tests/browser/picture.js" "$page/demo.html" "$SRCDIR/docs/html.png"
