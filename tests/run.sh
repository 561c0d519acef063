#!/bin/sh
# run.sh PROGRAM... - run tests and count them; the closing line is
# "N passed, N failed, N skipped". Exit 1 when something failed, or, with STRICT=1,
# was skipped.
#
# A *.sh counts as one test; exit 77 is a skip, whose last line says why
# ("SKIP: needs PACKAGE"). A *_fuzz is one test, given its corpus. Any other program
# speaks TAP and counts by case; dying, or breaking its plan, is one more failure.
#
# No test is tried again: one that fails by chance is wrong. The whole output of the run that ended
# last lies in $B/results.
#
# Environment: B (build folder), CC, STRICT, JOBS (2), TEST_TIMEOUT (900 seconds),
# RUN_UNDER (an emulator for the programs).
#
# SPDX-License-Identifier: MIT
set -u

run_program() # FILE: run it in the way its kind asks for
{
    case $1 in
    *.sh) timeout -k 5 "$limit" sh "$1" ;;
    *_fuzz)
        name=${1##*/}
        timeout -k 5 "$limit" "$1" "$SRCDIR/tests/fuzz/corpus/${name%_fuzz}"/* ;;
    *) timeout -k 5 "$limit" ${RUN_UNDER:-} "$1" ;;
    esac
}

count_tap() # FILE RC: print "passed failed skipped", and what TAP itself can't say
{
    awk -v rc="$2" '
        /^not ok / { failed++; next }
        /^ok .*# SKIP/ { skipped++; next }
        /^ok / { passed++ }
        /^1\.\.[0-9]+$/ { plan = substr($0, 4) + 0; plans++ }
        /^1\.\.0 # SKIP/ { plan = skipped = 1; plans++ }
        END {
            ran = passed + failed + skipped
            if (plans != 1 || plan != ran)
                why = "broke its plan: " plan + 0 " promised, " ran + 0 " ran"
            if (rc != 0 && !failed)
                why = "ended with status " rc
            if (why != "") failed++
            print passed + 0, failed + 0, skipped + 0, why
        }' "$1"
}

count() # FILE RC OUTPUT
{
    case $1 in
    *.sh | *_fuzz)
        case $2 in
        0) echo 1 0 0 ;;
        77) echo 0 0 1 ;;
        124 | 137) echo "0 1 0 took more than $limit seconds" ;;
        *) echo "0 1 0 ended with status $2" ;;
        esac ;;
    *) count_tap "$3" "$2" ;;
    esac
}

list_skips() # FILE OUTPUT: one line for each skip, with its reason
{
    case $1 in
    *.sh) echo "$1: $(tail -n 1 "$2" | sed 's/^SKIP: //')" ;;
    *) sed -n "s|^ok [0-9]* - \(.*\) # SKIP *|${1##*/}: \1: |p; s|^1\.\.0 # SKIP:* *|${1##*/}: |p" \
        "$2" ;;
    esac
}

failed_files() # print the files whose count has failures
{
    for file; do
        read -r _ failed _ 2>/dev/null <"$(result_of "$file").count" || failed=1
        [ "$failed" = 0 ] || echo "$file"
    done
}

result_of() # FILE: print where its results lie, without the end of the name
{
    echo "$RESULTS/$(echo "${1#"$SRCDIR"/}" | tr '/' '@')"
}

run_one() # FILE: run, count, say so in one write
{
    rel=${1#"$SRCDIR"/}
    out=$(result_of "$1")
    began=$(date +%s)
    run_program "$1" >"$out.out" 2>&1 </dev/null
    rc=$?
    read -r passed failed skipped why <<END
$(count "$1" "$rc" "$out.out")
END
    echo "$passed $failed $skipped" >"$out.count"
    [ "$skipped" = 0 ] || list_skips "$rel" "$out.out" >"$out.skip"
    word=ok
    [ "$skipped" = 0 ] || word=skip
    [ "$failed" = 0 ] || word=FAIL
    line=$(printf '%-4s %s (%s passed, %s failed, %s skipped; %s s)' "$word" "$rel" \
        "$passed" "$failed" "$skipped" $(($(date +%s) - began)))
    [ "$failed" = 0 ] || line="$line
$(sed 's/^/     | /' "$out.out" | tail -n 60)${why:+
     = $why}"
    printf '%s\n' "$line"
}

limit=${TEST_TIMEOUT:-900}
SRCDIR=${SRCDIR:-$(cd "$(dirname "$0")/.." && pwd)}
if [ "${1:-}" = --one ]; then
    run_one "$2"
    exit 0
fi

# A test may call make itself: as a new one, with nothing of ours.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
cd "$SRCDIR" || exit 2
mkdir -p "${B:=build}" || exit 2
B=$(cd "$B" && pwd) CC=${CC:-gcc}
RESULTS=$(mktemp -d "$B/results.XXXXXX") || exit 2 # two runs may share a build folder
export B CC SRCDIR RESULTS
[ $# -gt 0 ] && printf '%s\n' "$@" | xargs -n 1 -P "${JOBS:-2}" sh tests/run.sh --one
bad=$(failed_files "$@" | sed "s|^$SRCDIR/|  |; s|^[^ ]|  &|")

ran=$(find "$RESULTS" -name '*.count' | wc -l)
set -- $# $(cat "$RESULTS"/*.count 2>/dev/null |
    awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
failed=$(($3 + $1 - ran)) # a test that left no count did not end by itself
[ "$4" = 0 ] || { echo 'skipped:'; cat "$RESULTS"/*.skip | sed 's/^/  /'; }
[ -z "$bad" ] || printf 'failed:\n%s\n' "$bad"
rm -rf "$B/results" && mv "$RESULTS" "$B/results" # of the run that ended last
echo "$2 passed, $failed failed, $4 skipped"
[ "$failed" = 0 ] && [ "$2" != 0 ] && { [ "$4" = 0 ] || [ -z "${STRICT:-}" ]; }
