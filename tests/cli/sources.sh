#!/bin/sh
# cli/sources.sh - the files of functions: file URLs are paths, --map and --trim-path change
# paths, and the source is found all the same.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

# -- File URLs ------------------------------------------------------------------
mkdir -p "a b/é" moved
printf 'one\ntwo %s\nthree\n' "$(printf %01000d 0)" >"a b/é/x%.js"
url=file://$tmp/a%20b/%C3%A9/x%25.js
path="$tmp/a b/é/x%.js"
"$tmp/captures" of "work ($url:1:1)=3" "$url=2" "local (file://localhost$tmp/y.js?v=2:1:1)=1" \
    'far (file://server/y.js:1:1)=1' 'gi (resource:///org/gnome/gi.js:7:11)=8' \
    'nul (file:///a%00b.js:1:1)=1' >url.cap
run report --csv url.cap
is_err ''
has "work ($path:1:1)"
has "$path"
has "local ($tmp/y.js:1:1)"
has 'far (file://server/y.js:1:1)'
has 'nul (file:///a%00b.js:1:1)'
run annotate url.cap work
has "source: $path"
row '100.0% 100.0% 10 ms 3 three'
run annotate url.cap "$path"
has "source: $path"
run annotate url.cap "$url" # as it was recorded
has "source: $path"
run annotate url.cap gi
has 'source not found: resource:///org/gnome/gi.js (in a GResource of the program)'
mkdir -p tree/org/gnome
seq 10 >tree/org/gnome/gi.js
run annotate --source tree url.cap gi
has 'source: tree/org/gnome/gi.js'

# A resource that is compiled into the program, and one that GLib compressed.
cat >gi.c <<'END'
#include <jsprof.h>
#include <time.h>
int main(void)
{
    struct timespec now;
    jsprof *p;
    jsprof_thread *t;
    if (jsprof_start_from_env(&p) <= 0 || jsprof_thread_attach(p, "main", &t) < 0)
        return 1;
    jsprof_push(t, "packed (resource:///org/gnome/packed.js:1:1)", NULL, 1);
    jsprof_push(t, "gi (resource:///org/gnome/gi.js:7:11)", NULL, 8);
    do
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 100000000);
    jsprof_pop(t);
    jsprof_pop(t);
    return jsprof_close(p) < 0;
}
END
if command -v glib-compile-resources >/dev/null; then
    mkdir -p made
    sed 's/^/resource line /' tree/org/gnome/gi.js >made/gi.js
    seq 1000 >made/packed.js
    cat >gi.xml <<'END'
<gresources><gresource prefix="/org/gnome"><file>gi.js</file><file>other/gi.js</file>
<file compressed="true">packed.js</file></gresource></gresources>
END
    mkdir -p made/other
    echo other >made/other/gi.js
    glib-compile-resources --sourcedir=made --target=gi.gresource gi.xml
    "$CC" -std=c11 -D_GNU_SOURCE -I"$SRCDIR/include" -o gi gi.c "$B/lib/libjsprof.a" -pthread
    "$($CC -print-prog-name=objcopy)" --add-section .gresource.gi=gi.gresource gi
    JSPROF=gi.cap ./gi
    run annotate gi.cap gi
    has "source: $tmp/gi:/org/gnome/gi.js"
    row ' 8 resource line 8'
    run annotate gi.cap packed
    has 'source not found: resource:///org/gnome/packed.js (in a GResource of the program)'
    # A table that is damaged anywhere gives a source or none.
    "$("$CC" -print-prog-name=objcopy)" --remove-section .gresource.gi gi whole
    for at in $(seq 0 31 $(($(wc -c <gi.gresource) - 1))); do
        cp gi.gresource damaged
        printf '\377\377\377' | dd of=damaged bs=1 seek="$at" conv=notrunc 2>/dev/null
        "$($CC -print-prog-name=objcopy)" --add-section .gresource.gi=damaged whole gi
        run annotate gi.cap gi
        is_rc 0
    done
else
    echo 'sources: no glib-compile-resources here: resources were not tried'
fi
for regex in "a%20b.*x%25" 'a b.*x%'; do # the recorded name, and the shown one
    run report --only "$regex" --csv url.cap
    has "work ($path:1:1)"
    lines 3
done
printf 'shell name=*file://*\nmine name=* kind=vm\n' >rules
run report --categories rules --category shell --csv url.cap # a rule for the recorded name
has "work ($path:1:1)"
hasnt resource://
for format in pprof callgrind firefox speedscope; do
    run convert --to $format -o - url.cap
    [ $format != pprof ] || { gzip -d <out >plain && mv plain out; }
    tr '\n\0' '  ' <out >joined
    grep -aqF "$path" joined || wrong 'does not name the file by its path'
    ! grep -aqF 'a%20b' joined || wrong 'names the file by its URL'
done

# -- Other folders --------------------------------------------------------------
printf 'far\naway\n' >moved/w.js
"$tmp/captures" of 'work (/build/src/lib/w.js:1:1)=2' 'near (/build/srcs/n.js:1:1)=1' \
    'here (src/h.js:1:1)=1' '/build/src/top.js=1' 'get a/b=0' >map.cap
run report --csv --map /build/src/lib=moved map.cap
has 'work (moved/w.js:1:1)'
has '/build/src/top.js'
run annotate --map "/build/src/lib/=$tmp/moved/" map.cap work
has "source: $tmp/moved/w.js"
row '100.0% 100.0% 10 ms 2 away'
run report --csv --map /build/src=/one --map /build=/two --map =/three map.cap
has 'work (/one/lib/w.js:1:1)'
has '/one/top.js'
has 'near (/two/srcs/n.js:1:1)'
has 'here (/three/src/h.js:1:1)'
has 'get a/b'
run report --csv --trim-path /build/src map.cap
has 'work (lib/w.js:1:1)'
has 'near (/build/srcs/n.js:1:1)'
run annotate --map /build/src/lib=/x --map "/build/src=$tmp" --trim-path /x map.cap work
has 'source not found: w.js'
run annotate --map "/build/src/lib=$tmp/moved" --trim-path "$tmp" map.cap work
has 'source: '
row '100.0% 100.0% 10 ms 2 away'
run convert --to callgrind --trim-path=/build map.cap
has 'src/lib/w.js'
hasnt /build/src/lib
# -- Exact calls ----------------------------------------------------------------
run calls --csv --map /srv=/x calls.cap
has '"main","/x/a.js",1,'
run calls --csv --trim-path /srv calls.cap
has '"main","a.js",1,'
run calls --file '^/x/' --map /srv=/x --csv calls.cap
has '"main","/x/a.js",1,'
printf '{"version":3,"file":"a.js","sources":["b.ts"],"names":[],"mappings":"AAAA;;;;AAiDA"}' \
    >a.js.map
run calls --csv --source-maps a.js.map calls.cap
is_rc 0
has '"main","b.ts",1,vm,1,'
has ',"b.ts",50,vm,1000,'
grep -q '^jsprof: calls.cap: names and lines of 1 file are from source maps ' err ||
    wrong 'does not say that it used a map'
run calls --source-maps nowhere calls.cap
is_rc 1
is_err 'jsprof: nowhere: No such file or directory'
run calls --map /srv calls.cap
is_rc 2
is_err 'jsprof calls: --map wants OLD=NEW, not "/srv" (try: jsprof calls --help)'
run convert --to callgrind --map /srv=/x calls.cap
has ' /x/a.js'
hasnt /srv
run html -o - --map /srv=/x calls.cap
grep -qF 'main (/x/a.js:1)' out || { echo 'html does not map exact calls'; bad=1; }

# -- One program in two folders --------------------------------------------------
"$tmp/captures" of 'work (/s/v1/lib/w.js:1:1)=2' 'gone (/s/v1/g.js:1:1)=1' /s/v1/main.js=1 \
    'far (/lib/far.js:1:1)=1' >v1.cap
"$tmp/captures" of "work (file:///s/v2/lib/w.js:3:1)=2" 'new (/s/v2/n.js:1:1)=1' \
    file:///s/v2/main.js=1 'far (/lib/far.js:1:1)=1' >v2.cap
note='jsprof: v2.cap: files below "/s/v2/" are compared with those below "/s/v1/" of v1.cap'
run diff --csv v1.cap v2.cap
is_err "$note"
has '"work (lib/w.js:1:1)",vm,"",10000000,10000000,'
has '"main.js",vm,"",10000000,10000000,'
has 'far (/lib/far.js:1:1)'
has 'gone (g.js:1:1)'
has 'new (n.js:1:1)'
lines 6
run html -o - v1.cap v2.cap
is_err "$note"
grep -qF 'work (lib/w.js:' out || { echo 'html compares whole paths'; bad=1; }
! grep -qF '/s/v' out || { echo 'html has the folders'; bad=1; }
run diff --map /s/v1=/s/v2 v1.cap v2.cap
is_err ''
run diff v1.cap v1.cap
is_err ''
run html -o - v1.cap
is_err ''
grep -qF 'work (/s/v1/lib/w.js:1:1)' out || { echo 'html of one capture cuts paths'; bad=1; }

run report --map nowhere map.cap
is_rc 2
is_err 'jsprof report: --map wants OLD=NEW, not "nowhere" (try: jsprof report --help)'
run report $(for i in $(seq 17); do echo "--map a$i=b"; done) map.cap
is_rc 2
is_err 'jsprof report: --map: more than 16 times (try: jsprof report --help)'
exit $bad
