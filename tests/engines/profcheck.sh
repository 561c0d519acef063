#!/bin/sh
# engines/profcheck.sh - profcheck, OpenTelemetry's validator of profiles, finds nothing wrong in
# what `jsprof convert --to otlp` writes: no message, no entry twice, no entry without a use.
#
# Go's proxy does not serve it, so nothing here builds it: PROFCHECK=FILE names a binary.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
profcheck=${PROFCHECK:-$B/engines/profcheck}
[ -x "$profcheck" ] || { echo 'SKIP: needs profcheck: PROFCHECK=FILE'; exit 77; }

programs=$SRCDIR/examples/lark/programs
lark() # CAPTURE OPTIONS PROGRAM WORDS...
{
    out=$1
    shift
    "$B/bin/lark" --profile-output="$out" --profile-hz=1000 "$@" >/dev/null
}
lark shares.cap "$programs/shares.lark" 3
lark wall.cap --profile-clock=wall "$programs/shares.lark" 3
lark alloc.cap --profile-alloc=4096 "$programs/shares.lark" 3
cat >labels.lark <<'END_OF_PROGRAM'
fn spin(n) {
    let i = 0;
    while i < n { i = i + 1; }
    return i;
}
label("route", "/login");
spin(3000000);
label("route", "/logout");
spin(3000000);
END_OF_PROGRAM
lark labels.cap labels.lark
run merge -o merged.cap shares.cap labels.cap
is_rc 0

for capture in shares wall alloc labels merged; do
    run convert --to otlp -o $capture.otlp $capture.cap
    is_rc 0
    ran="profcheck $capture.otlp"
    : >err
    "$profcheck" -check-dupes -check-orphans $capture.otlp >out 2>&1 || wrong 'fails'
    has 'conformance checks passed'
done

# It is no yes to everything: a profile without its dictionary.
head -c $(($(wc -c <shares.otlp) / 4)) shares.otlp >cut.otlp
ran='profcheck cut.otlp'
! "$profcheck" cut.otlp >out 2>&1 || wrong 'passes'
exit $bad
