#!/bin/sh
# check/failures.sh - each test that docs/failures.md names exists, with each of the cases
# that it names.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
table=docs/failures.md
rows=$(grep -c '^| .*`tests/' "$table" || true)
[ "$rows" -ge 20 ] || { echo "failures: $table has only $rows rows with a test"; exit 1; }

# A row's tests in order: a path, then the cases that are looked for in it.
bad=0 file=
for name in $(grep '^| ' "$table" | sed 's/.*|\([^|]*\)|$/\1/' | grep -o '`[^`]*`' | tr -d '`'); do
    case $name in
    tests/*)
        file=$name
        [ -f "$file" ] || { echo "failures: $file does not exist"; bad=1; } ;;
    *)
        grep -qF "$name" "$file" || { echo "failures: $file has no $name"; bad=1; } ;;
    esac
done
grep '^| ' "$table" | grep -v '^| what breaks |' | grep -vn '`tests/' &&
    { echo 'failures: the above have no test'; bad=1; }
exit $bad
