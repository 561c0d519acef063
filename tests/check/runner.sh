#!/bin/sh
# check/runner.sh - the runner and the harness count honestly: a test that fails,
# dies, hangs, breaks its plan or skips is seen as that.
#
# SPDX-License-Identifier: MIT
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset STRICT
bad=0

expect() # STATUS CLOSING-LINE NAME, the test itself on stdin
{
    want_rc=$1 want=$2 f=$tmp/$3
    cat >"$f"
    chmod +x "$f"
    rc=0
    B=$tmp/b TEST_TIMEOUT=1 sh "$SRCDIR/tests/run.sh" "$f" >"$tmp/out" || rc=$?
    [ "$rc" = "$want_rc" ] && [ "$(tail -n 1 "$tmp/out")" = "$want" ] && return
    echo "runner: $3: status $rc, not $want_rc; or not '$want':"
    cat "$tmp/out"
    bad=1
}

reason() # TEXT: in the output of the last one
{
    grep -qF "$1" "$tmp/out" || { echo "runner: a skip without '$1'"; bad=1; }
}

expect 0 '1 passed, 0 failed, 0 skipped' passes.sh <<'END'
true
END
expect 1 '0 passed, 1 failed, 0 skipped' fails.sh <<'END'
exit 1
END
expect 1 '0 passed, 1 failed, 0 skipped' hangs.sh <<'END'
sleep 30
END
expect 1 '0 passed, 0 failed, 1 skipped' skips.sh <<'END'
echo SKIP: needs nothing; exit 77
END
reason 'skips.sh: needs nothing'
expect 0 '1 passed, 0 failed, 1 skipped' tap_skips <<'END'
#!/bin/sh
echo ok 1 - a; echo 'ok 2 - b # SKIP no room'; echo 1..2
END
reason 'tap_skips: b: no room'
expect 1 '0 passed, 0 failed, 1 skipped' tap_skips_all <<'END'
#!/bin/sh
echo '1..0 # SKIP needs a compiler'
END
reason 'tap_skips_all: needs a compiler'
STRICT=1
export STRICT
expect 1 '1 passed, 0 failed, 1 skipped' tap_strict <<'END'
#!/bin/sh
echo ok 1 - a; echo 'ok 2 - b # SKIP no room'; echo 1..2
END
unset STRICT
expect 1 '1 passed, 1 failed, 0 skipped' tap_fails <<'END'
#!/bin/sh
echo ok 1 - a; echo not ok 2 - b; echo 1..2; exit 1
END
expect 1 '1 passed, 1 failed, 0 skipped' tap_dies <<'END'
#!/bin/sh
echo ok 1 - a; kill -SEGV $$
END
expect 1 '1 passed, 1 failed, 0 skipped' tap_ends_early <<'END'
#!/bin/sh
echo 1..2; echo ok 1 - a
END
expect 1 '1 passed, 1 failed, 0 skipped' tap_bad_exit <<'END'
#!/bin/sh
echo ok 1 - a; echo 1..1; exit 3
END
expect 1 '0 passed, 1 failed, 0 skipped' silent <<'END'
#!/bin/sh
END

# Two runs in one build folder do not count each other's tests: the outer run counts itself.
expect 0 '1 passed, 0 failed, 0 skipped' beside.sh <<'END'
echo true >"$B/inner.sh"
[ "$(sh "$SRCDIR/tests/run.sh" "$B/inner.sh" | tail -n 1)" = '1 passed, 0 failed, 0 skipped' ]
END

# What failed is not tried again.
expect 1 '0 passed, 1 failed, 0 skipped' once.sh <<'END'
[ -f "$0.ran" ] && exit 0; touch "$0.ran"; exit 1
END
reason '/once.sh'

cat >"$tmp/harness.c" <<'END'
#include "test.h"
TEST(good) { CHECK(1); CHECK_EQ(2, 2); CHECK_STR("a", "a"); }
TEST(bad_number) { CHECK_EQ(2, 3); }
TEST(bad_string) { CHECK_STR("a", NULL); }
TEST(bad_truth) { CHECK(0); }
TEST(bad_idle) {}
TEST(skipped) { SKIP("no reason"); }
TEST(never_run) { CHECK(1); }
int main(void)
{
    RUN(good); RUN(bad_number); RUN(bad_string); RUN(bad_truth); RUN(bad_idle);
    RUN(skipped);
    return DONE();
}
END
$CC -std=c11 -D_GNU_SOURCE -Wall -Wextra ${WERROR:-} -I"$SRCDIR/tests/unit" \
    -o "$tmp/harness" "$tmp/harness.c"
B=$tmp/b sh "$SRCDIR/tests/run.sh" "$tmp/harness" >"$tmp/out" && bad=1
[ "$(tail -n 1 "$tmp/out")" = '1 passed, 5 failed, 1 skipped' ] ||
    { cat "$tmp/out"; bad=1; }
exit $bad
