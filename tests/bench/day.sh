#!/bin/sh
# day.sh BUILD - how large a day of stall mode gets: a GTK 4 program that only shows the time and a
# cursor, for a minute under Xvfb. What the capture grows by after the first ten seconds counts for
# the rest of the day; whatever stalls that minute had are in it.
#
# SPDX-License-Identifier: MIT
#
# DAY_SECONDS=N: so long, if not 60.
set -eu
build=$(cd "$1" && pwd)
scripts=$(cd "$(dirname "$0")/../mozjs/scripts" && pwd)
gjs=$build/bin/gjs-console
seconds=${DAY_SECONDS:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v xvfb-run >/dev/null && [ -x "$gjs" ] && gjs-console -c 'imports.gi.versions.Gtk = "4.0";
    imports.gi.Gtk' 2>/dev/null || {
    printf 'note\tno day of a desktop program: needs xvfb xauth gir1.2-gtk-4.0 gjs\n'
    exit 0
}
GDK_BACKEND=x11 GSK_RENDERER=cairo LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a \
    -s '-screen 0 640x480x24' "$gjs" --profile-output="$work/day.cap" --profile-clock=wall \
    --profile-stalls=16ms "$scripts/desk.js" "$seconds" >"$work/out" 2>&1 &
program=$!
sleep 10
first=$(wc -c <"$work/day.cap")
sleep $((seconds - 15))
last=$(wc -c <"$work/day.cap")
wait $program || { cat "$work/out" >&2; exit 1; }
turns=$("$build/bin/jsprof" stalls --each --csv "$work/day.cap" 2>/dev/null | sed 1d | wc -l)
echo "$first $last $((seconds - 15)) $turns" | awk '{
    day = ($1 + ($2 - $1) / $3 * 86400) / 1e6
    printf "row\tgjs: stall mode, an idle GTK 4 program\t<= 10 MB a day\t%.1f MB\t", day
    printf "%d bytes after 10 s, %d more in %d s; frames and turns over 16 ms: %d\t%s\n",
        $1, $2 - $1, $3, $4, day <= 10 ? "yes" : "NO" }'
