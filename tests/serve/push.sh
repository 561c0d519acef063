#!/bin/sh
# serve/push.sh - jsprof push: what engines get, in which form, and what happens when they fail,
# ask to wait, refuse, or are away.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
command -v python3 >/dev/null || { echo 'SKIP: needs python3'; exit 77; }
spin_and_rest_lark
start "$B/bin/lark" --profile-control spin.lark
python3 -B "$SRCDIR/tests/serve/push.py" "$jsprof" $pid || exit 1
python3 -B "$SRCDIR/tests/export/otlp.py" check sent.otlp >out || wrong 'sends no OTLP'
has 'spin (spin.lark:1)'
for words in 'http://a' '--to moon http://a' '--to otlp https://a' '--to otlp http://a:b' \
    '--to folder --label a=b folder' '--to parca --label a http://a' '--to parca' \
    '--to parca --seconds 0 http://a' '--to parca --token-file a --basic-file b http://a'; do
    # shellcheck disable=SC2086
    run push $words
    is_rc 2
done
run push --to parca --token-file missing http://a
is_rc 1
says missing
run push --to parca --queue /proc/nowhere http://a
is_rc 1
says /proc/nowhere
exit $bad
