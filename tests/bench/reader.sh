#!/bin/sh
# reader.sh - the reader beside Sysprof's own: a capture of a million samples of 30
# frames to its report; with LONG=1 ten million, for what grows.
#
# SPDX-License-Identifier: MIT
#
#     reader.sh BUILD HERE WORK
set -eu
B=$1 here=$2 work=$3
bin=$B/tests/bench rounds=9
[ -z "${QUICK:-}" ] || rounds=3

row() # BUDGET LIMIT MEASURED BESIDE HOLDS
{
    printf 'row\t%s\t%s\t%s\t%s\t%s\n' "$@"
}

holds() # VALUE LIMIT
{
    awk -v v="$1" -v l="$2" 'BEGIN { print v <= l ? "yes" : "NO" }'
}

"$bin/gen_capture" 1000000 30 20000 >"$work/1m.cap"
"$bin/spend" $rounds "$work/1m.cap" "$B/bin/jsprof" report "$work/1m.cap" >"$work/ours"
read -r low median high mb _ <"$work/ours"

peer='no libsysprof-4-dev'
if pkg-config --exists sysprof-4 sysprof-capture-4 2>/dev/null; then
    # shellcheck disable=SC2046
    "${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -o "$work/reader" "$here/../real/sysprof_reader.c" \
        $(pkg-config --cflags --libs sysprof-4 sysprof-capture-4)
    GSETTINGS_BACKEND=memory "$bin/spend" 1 "$work/1m.cap" "$work/reader" "$work/1m.cap" \
        >"$work/theirs"
    read -r _ theirs _ _ theirs_mb <"$work/theirs"
    peer="libsysprof $theirs s, $theirs_mb MB resident"
fi
row '1M samples x 30: open to report' '<= 0.3 s' "$median s ($low..$high)" "$peer" \
    "$(holds "$median" 0.3)"
row '  memory beyond the file' '<= 100 MB' "$mb MB" - "$(holds "$mb" 100)"

# The same functions by the reading library, without the command's table and hints.
"$bin/spend" $rounds "$work/1m.cap" "$bin/functions" "$work/1m.cap" >"$work/library"
read -r library_low library library_high _ <"$work/library"
ratio=$(awk -v a="$library" -v b="$median" 'BEGIN { printf "%.2f", a / b }')
row '  by the reading library' '<= 1.05 x report' "$ratio x ($library_low..$library_high s)" \
    "report $median s" "$(holds "$ratio" 1.05)"

# The same samples in the compact form.
"$B/bin/jsprof" convert --to compact -o "$work/1m.compact" "$work/1m.cap"
each() # FILE
{
    echo $(($(stat -c %s "$1") / 1000000))
}
row '  bytes a sample, compact' '<= 33' "$(each "$work/1m.compact")" \
    "plain $(each "$work/1m.cap")" "$(holds "$(each "$work/1m.compact")" 33)"
"$bin/spend" $rounds "$work/1m.compact" "$B/bin/jsprof" report "$work/1m.compact" \
    >"$work/packed"
read -r packed_low packed packed_high packed_mb _ <"$work/packed"
row '  compact: open to report' '<= 0.3 s' "$packed s ($packed_low..$packed_high)" \
    "plain $median s" "$(holds "$packed" 0.3)"
row '  compact: memory beyond the file' '<= 100 MB' "$packed_mb MB" "plain $mb MB" \
    "$(holds "$packed_mb" 100)"
rm -f "$work/1m.compact"

[ -n "${LONG:-}" ] || exit 0
rm -f "$work/theirs"
"$bin/gen_capture" 10000000 30 20000 >"$work/10m.cap"
"$bin/spend" 3 "$work/10m.cap" "$B/bin/jsprof" report "$work/10m.cap" >"$work/ten"
read -r low ten high ten_mb _ <"$work/ten"
ratio=$(awk -v a="$median" -v b="$ten" 'BEGIN { printf "%.1f", b / a }')
row '10M samples, as many stacks: time' '<= 12 x 1M' "$ratio x ($low..$high s)" - \
    "$(holds "$ratio" 12)"
more=$(awk -v a="$mb" -v b="$ten_mb" 'BEGIN { printf "%.1f", b - a }')
row '  memory more than for 1M' '<= 1 MB' "$more MB" - "$(holds "$more" 1)"
rm -f "$work/10m.cap"
"$bin/gen_capture" 1000000 30 200000 >"$work/10x.cap"
"$bin/spend" 3 "$work/10x.cap" "$B/bin/jsprof" report "$work/10x.cap" >"$work/tenfold"
read -r _ _ _ tenfold_mb _ <"$work/tenfold"
row '1M samples, ten times the stacks: memory' - "$tenfold_mb MB" "20,000 stacks $mb MB" -
