#!/bin/sh
# export/totals.sh - one real recording, every format that convert --help lists: the same
# total in each, and for each function the same self, to a microsecond.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/node/lib.sh"
need @paulirish/trace_engine
command -v go >/dev/null || { echo 'SKIP: needs golang-go'; exit 77; }
command -v protoc >/dev/null || { echo 'SKIP: needs protobuf-compiler'; exit 77; }
command -v callgrind_annotate >/dev/null || { echo 'SKIP: needs valgrind'; exit 77; }
. "$SRCDIR/tests/export/lib.sh"
. "$SRCDIR/tests/export/lib_perfetto.sh"

# Self by function in whole microseconds, by what is read out of the file itself.
read_folded() { awk '{ n = $NF; sub(/ [0-9]*$/, ""); sub(/.*;/, ""); sub(/_\[[jik]\]$/, "")
    print n, $0 }' "$1"; }
read_perf() { awk '/^[^\t]/ { value = $5; leaf = 1; next } leaf && /^\t/ { leaf = 0
    sub(/^\t *[0-9a-f]+ /, ""); sub(/ \([^()]*\)$/, ""); print value, $0 }' "$1"; }
read_csv() { sed 1d "$1" | awk -F'"' '{ split($3, n, ","); print n[4], $4 }'; }
read_pprof() { go tool pprof -raw "$1" 2>/dev/null | awk '
    BEGIN { n = 0 } /^Samples:/ { part = 1; next } /^Locations/ { part = 2; next }
    /^Mappings/ { exit }
    part == 1 && $1 ~ /^[0-9]+$/ { sub(/:/, "", $2); self[n] = $2; leaf[n++] = $3 }
    part == 2 { id = $1; sub(/:/, "", id); sub(/^ *[0-9]+: 0x[0-9a-f]+ (M=[0-9]+ )?/, "")
        sub(/ [^ ]*:[0-9]+(:[0-9]+)? s=[0-9]+.*$/, ""); name[id] = $0 }
    END { for (i = 0; i < n; i++) print self[i], name[leaf[i]] }'; }
read_otlp() { python3 -B "$SRCDIR/tests/export/otlp.py" self "$1"; }
read_json() { "$node" -e '
    const p = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    p.samples.stack.forEach((s, i) => console.log(p.samples.value[i],
        p.functions[p.frames[p.stacks[s][1]].function].name))' "$1"; }
read_speedscope() { "$node" -e '
    const p = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    for (const t of p.profiles) t.samples.forEach((s, i) => console.log(t.weights[i],
        p.shared.frames[s.at(-1)].name))' "$1"; }
read_chrome() { "$node" "$SRCDIR/tests/export/trace.mjs" "$1" | grep '^[0-9]' |
    grep -v '"(idle)"' | tr -d '"' | awk '{ $2 = $3 = $4 = ""; print }'; }
# A row is "1,234  FILE:NAME [OBJECT]"; a NAME'2 is another function of that name.
read_callgrind() { callgrind_annotate --auto=no --threshold=100 --show-percs=no \
    --inclusive=no "$1" | awk '
    /file:function$/ { part = 1; next }
    part && $1 ~ /^[0-9,]+$/ { n = $1; gsub(/,/, "", n); sub(/^ *[0-9,]+ +[^:]*:/, "")
        sub(/ \[[^]]*\]$/, ""); sub(/\047[0-9]+$/, ""); print n, $0 }'; }
read_firefox() { "$node" -e '
    const p = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
    const { stringArray } = p.shared;
    for (const t of p.threads) t.samples.stack.forEach((s, i) => console.log(
        t.samples.weight[i] * 1e6,
        stringArray[t.funcTable.name[t.frameTable.func[t.stackTable.frame[s]]]]))' "$1"; }
read_perfetto() { perfetto_lines "$1" | sed -n 's/^self //p'; }
formats='callgrind chrome csv firefox folded json otlp perf perfetto pprof speedscope'
rounded() { figures | awk '{ n = $1; $1 = ""; printf "%.0f%s\n", n / 1000, $0 }' |
    grep -v '^0 ' | LC_ALL=C sort; }

# The line of --to and the table above it: each names all that have a reader here.
run convert --help
is_rc 0
printf '%s\n' $formats >want
for listed in 's/^ *--to \([a-z|]*\)\(;.*\)*$/\1/p' 's/^  \([a-z, ]*[a-z]\)  *\.[a-z].*/\1/p'; do
    # Two are captures again, which tests/export/compact.sh compares; dot has no samples.
    "$jsprof" convert --help | sed -n "$listed" | tr -s '|, ' '\n' |
        grep -vx -e compact -e syscap -e dot | LC_ALL=C sort >got
    diff want got >out || wrong 'lists other formats than this test covers'
done

"$B/bin/lark" --profile-output=lark.cap "$SRCDIR/examples/lark/programs/words.lark" \
    "$SRCDIR/docs/capture.md" 800 >out
reported lark
rounded <lark.self >want
ran=report
cp lark.self out
: >err
[ "$(wc -l <want)" -ge 5 ] || wrong 'has too little to compare'
total=$(awk '{ sum += $1 } END { printf "%.0f", sum }' lark.self)
for format in $formats; do
    convert $format lark lark.$format
    read_$format lark.$format >self
    rounded <self >got
    same want got "$format"
    awk -v total="$total" '{ sum += $1 } END { d = sum - total; exit d * d > 1e6 }' self || {
        ran=$format
        cp got out
        wrong "does not add up to $total ns"
    }
done
exit $bad
