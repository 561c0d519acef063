#!/bin/sh
# lark/programs.sh - every program of the example language prints what it should, with
# and without a profile, and a long run does not grow.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

check 'the language does what it says' \
    same_output "$DATA/language.out" "$DATA/language.lark"
runs >"$SCRATCH/runs"
while read -r name args; do
    # shellcheck disable=SC2086
    check "$name prints the same" \
        same_output "$DATA/$name.out" "$PROGRAMS/$name.lark" $args
    # shellcheck disable=SC2086
    check "$name prints the same while it is profiled" same_output "$DATA/$name.out" \
        --profile-output="$SCRATCH/$name.cap" --profile-hz=5000 --profile-clock=wall \
        "$PROGRAMS/$name.lark" $args
    check "$name has a capture" "$JSPROF_TOOL" info "$SCRATCH/$name.cap"
done <"$SCRATCH/runs"

# 3 million strings of 48 bytes: 140 MB and more, were they kept.
cat >"$SCRATCH/garbage.lark" <<'END'
let s = "";
for i = 0, 3000000 { s = "so much" + " garbage"; }
print(s);
END
# A sanitizer keeps what was freed for a while, by design.
if nm "$LARK" 2>/dev/null | grep -q __asan_init; then
    echo 'not limited: built with a sanitizer'
else
    check 'garbage is collected' \
        sh -c "ulimit -v 65536; exec '$LARK' '$SCRATCH/garbage.lark'"
fi
finish
