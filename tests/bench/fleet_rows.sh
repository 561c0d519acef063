#!/bin/sh
# fleet_rows.sh - what fleet.sh measures as rows of the bench's table, each beside its budget.
# QUICK=1 takes 100 hosts in place of 500, in windows as long.
#
# SPDX-License-Identifier: MIT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || {
    printf 'note\tno row of serve, push, top and dump: needs python3\n'
    exit 0
}
[ -z "${QUICK:-}" ] || export HOSTS=100 WINDOWS=1
for what in serve push top dump; do
    sh "$here/fleet.sh" "$what" >"$work/$what" 2>&1 || { cat "$work/$what" >&2; exit 1; }
done

# A budget is for as many samples as the text says, so a profile of fewer decides nothing.
cat "$work/serve" "$work/push" "$work/top" "$work/dump" | awk '
    function row(budget, limit, measured, beside, holds) {
        printf "row\t%s\t%s\t%s\t%s\t%s\n", budget, limit, measured, beside, holds
    }
    function field(before,  rest) { # the number that comes after these words
        rest = substr($0, index($0, before) + length(before))
        return rest + 0
    }
    / hosts, .* windows of / { hosts = $1; windows = $3 " windows of " $6 " s" }
    /^serve: / {
        cpu = field("s of CPU, "); own = field("at most "); held = field("its own, ")
        row("serve: CPU, " hosts " hosts", "<= 2 % of a core", cpu " %", windows,
            cpu <= 2 ? "yes" : "NO")
        mb = (own + held) * 1024 / 1e6
        row("serve: memory, " hosts " hosts", "<= 64 MB", sprintf("%.1f MB", mb),
            own " KiB of its own, " held " KiB of captures", mb <= 64 ? "yes" : "NO")
    }
    /^answers: / {
        most = 0; all = ""
        for (i = 2; $i + 0 == $i; i++) { all = all " " $i; if ($i + 0 > most) most = $i + 0 }
        row("serve: answer after the window", "<= 0.2 s", most " s", "each:" all,
            most <= 0.2 ? "yes" : "NO")
    }
    / a profile of / {
        name = $1; samples = $5; bytes = $7
        row("push: 1,000 samples of " substr(name, 1, length(name) - 1), "<= 4300 bytes",
            bytes " bytes", samples " samples",
            bytes > 4300 && samples <= 1000 ? "NO" : samples < 900 ? "noise" : "yes")
    }
    /^top: / {
        first = field("picture after "); share = field("threads have ")
        row("top: first picture", "<= 1 s", first " s", "-", first <= 1 ? "yes" : "NO")
        row("top: of the CPU of its host", "<= 0.5 %", share " %", "of the host" \
            substr($0, index($0, "host") + 4), share <= 0.5 ? "yes" : "NO")
    }
    /^200 threads that / {
        kind = substr($4, 1, length($4) - 1); ms = sprintf("%.1f", $7 / 1e6) + 0
        limit = kind == "sleep" ? 0 : 50
        row("dump: 200 threads that " kind, limit ? "<= 50 ms stopped" : "0 ms stopped",
            ms " ms", $5 " samples", $5 < 200 ? "noise" : ms <= limit ? "yes" : "NO")
    }'
