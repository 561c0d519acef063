#!/bin/sh
# cli/schema.sh - what each command prints with --json, of every made capture, is valid by the
# schema that it prints with --json-schema.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null ||
    { echo 'SKIP: needs python3-jsonschema 4 (make deps)'; exit 77; }
python3 "$SRCDIR/tests/cli/schema.py" "$jsprof" >out || { head -n 20 out; bad=1; }

# It needs no capture, and reads none. A command without --json has no schema.
run report --json-schema absent.cap
is_rc 0
is_err ''
has '"title":"jsprof report --json"'
run html --json-schema good.cap
is_rc 2
is_err 'jsprof html: unknown option --json-schema (try: jsprof html --help)'
exit $bad
