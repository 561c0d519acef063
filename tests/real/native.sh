#!/bin/sh
# real/native.sh - C functions in the views: which are shown, what names and lines they
# have, and what is said when files or tools are not what they should be.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

run info good.cap
hasnt 'C stacks'

run report --vm merged.cap
row '75.0% 21.7 3.00 ms 3 75.0% 3.00 ms ████████████ vm work'
row '25.0% 21.7 1.00 ms 1 25.0% 1.00 ms ████ synth [no VM frame]'
hasnt native
run tree merged.cap
tail -n +4 out | head -n 5 | awk '{ print $1, $NF }' >shape
printf '%s\n' 'TOTAL FUNCTION' '75.0% main' '75.0% (/srv/app/start.js:1:1)' \
    '75.0% (/srv/app/lib/deep/inside/work.js:20:3)' '25.0% helper' | cmp -s - shape ||
    wrong 'has another shape'
run report --native --vm merged.cap
is_rc 2
is_err 'jsprof report: --native and --vm exclude each other (try: jsprof report --help)'
run tree --native --vm merged.cap
is_rc 2
run report --lines merged.cap
is_rc 0
is_err 'jsprof: merged.cap: no names or lines from /srv/bin/host: No such file or directory'

# A host whose lines are known. Completed, its capture has its names in itself; killed,
# they have to come from its file.
mkdir none
cat >host.c <<'C'
#include <jsprof.h>
static volatile unsigned long sink;
__attribute__((noinline)) static void burn(void)
{
    for (int i = 0; i < 1000000; i++)
        sink = sink * 3 + 1; /* HOT */
}
int main(int argc, char **argv)
{
    jsprof *prof;
    jsprof_thread *me;
    (void)argv;
    if (jsprof_start_from_env(&prof) <= 0 || jsprof_thread_attach(prof, "main", &me) < 0)
        return 1;
    for (int i = 0; argc > 1 || i < 100; i++)
        burn();
    jsprof_close(prof);
    return 0;
}
C
host() # NAME [OPTION]
{
    "$CC" -g -O1 ${2:-} -Wl,--build-id=sha1 -pthread -I"$SRCDIR/include" \
        -o "$1" host.c "$B/lib/libjsprof.a"
}
hot=$(grep -n HOT host.c | cut -d: -f1)
host host
JSPROF=whole.cap ./host
JSPROF=killed.cap ./host on &
pid=$!
: >early
until [ -f killed.cap ] && "$jsprof" dump killed.cap 2>err >early; grep -q ' MAP ' early &&
    [ "$(grep -c ' SAMPLE ' early)" -ge 20 ]; do
    kill -0 $pid
done
kill -KILL $pid
wait $pid || :
"$jsprof" dump killed.cap >out
hasnt __symbols__

for cap in whole killed; do
    run report $cap.cap
    [ $cap = whole ] || lacks_end
    is_err ''
    grep -q '^ *[1-9].* native  burn  \[host\]$' out || wrong 'does not name burn'
    # Each tool alone; the others are not in PATH.
    for tool in eu-addr2line llvm-symbolizer addr2line; do
        path=$(command -v $tool) || continue
        mkdir -p with-$tool
        ln -sf "$path" with-$tool
        PATH=$PWD/with-$tool run report --csv --lines $cap.cap
        [ $cap = whole ] || lacks_end
        is_err ''
        grep -q "^\"burn\",native,.*,\"host\",\"[^\"]*/host.c\",\($((hot - 1))\|$hot\)\$" out ||
            wrong "gives no line of the loop of burn by $tool"
        PATH=$PWD/with-$tool run tree --lines $cap.cap
        grep -q " burn host.c:[0-9]*\$" out || wrong "gives no line by $tool"
    done
done

# No tool, tools that fail, that answer too little or too much: a line, and the report.
none='eu-addr2line, llvm-symbolizer and addr2line are not in PATH'
PATH=$PWD/none run report --lines whole.cap
is_rc 0
is_err "jsprof: whole.cap: no lines of native code: $none"
has ' burn  [host]'
for body in 'exit 1' 'echo ??:0; exit 0' 'while read a; do echo a.c:1; echo a.c:1; done' \
    'while read a; do echo a.c:1; done; exit 1' \
    'while read a; do echo a.c:1; done; kill -KILL $$'; do
    mkdir -p bad
    printf '#!/bin/sh\n%s\n' "$body" >bad/addr2line
    chmod +x bad/addr2line
    PATH=$PWD/bad run report --lines whole.cap
    is_rc 0
    has ' burn  [host]'
    hasnt 'a.c'
    err=$(sed 's/for .*: it/for FILE: it/' err)
    [ "$err" = "jsprof: whole.cap: $PWD/bad/addr2line gave no lines for FILE: it failed, \
or answered something else" ] || wrong "says something else of: $body"
done
# Relative places in PATH are nobody's.
(cd bad && PATH=.:bad: "$jsprof" report --lines ../whole.cap 2>&1) | grep -qF "$none" ||
    wrong 'takes a tool from the current directory'
# What a tool says reaches the terminal harmless.
printf '#!/bin/sh\nwhile read a; do printf "/x/\\033[31mred.c:7\\n"; done\n' >bad/addr2line
PATH=$PWD/bad run report --lines whole.cap
has '\x1b[31mred.c:7 '
long=$(printf '%0.sö' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
printf '#!/bin/sh\nwhile read a; do echo /x/l%s.c:7; done\n' "$long" >bad/addr2line
PATH=$PWD/bad run report --lines whole.cap
has ' lööööööööööööööö:7 '
iconv -f UTF-8 -t UTF-8 out >/dev/null || wrong 'cuts a character in two'

# A host that was built again gives the names of the recording if its file is equal, and none if
# the file differs.
mv host old
host host
run report killed.cap
lacks_end
is_err ''
has ' burn  [host]'
host host -O2
run report killed.cap
lacks_end
is_err "jsprof: killed.cap: no names or lines from $PWD/host: is not the file that was \
recorded"
has ' native  [host]'
hasnt burn
run report whole.cap
is_err ''
has ' burn  [host]'
rm host
run report killed.cap
lacks_end
is_err "jsprof: killed.cap: no names or lines from $PWD/host: No such file or directory"

# The recorded file is elsewhere: by name, by path, or as a debug file by its build id.
objcopy=$($CC -print-prog-name=objcopy)
id=$("$jsprof" dump --csv killed.cap | sed -n 's|.*,MAP,.*/host","\([0-9a-f]*\)",0$|\1|p')
[ ${#id} = 40 ] || wrong "the capture has no build id: $id"
mkdir -p by-name "by-path$PWD" by-id/.build-id/${id%${id#??}}
cp old by-name/host
cp old "by-path$PWD/host"
"$objcopy" --only-keep-debug old by-id/.build-id/${id%${id#??}}/${id#??}.debug
for how in by-name by-path by-id; do
    run report --symbols $how killed.cap
    lacks_end
    is_err ''
    grep -q '^ *[1-9].* native  burn  \[host\]$' out || wrong "does not name burn $how"
done
mkdir -p wrong
host wrong/host -O2
run report --symbols wrong killed.cap
lacks_end
is_err "jsprof: killed.cap: no names or lines from $PWD/host: is not the file that was \
recorded"
hasnt burn
# A stripped file here, its debug file there.
"$objcopy" --strip-all old host
run report killed.cap
hasnt burn
run report --symbols by-id killed.cap
lacks_end
is_err ''
has ' burn  [host]'
rm host
# debuginfod's cache, for a file that is not here.
mkdir -p cache/debuginfod_client/$id
cp by-id/.build-id/${id%${id#??}}/${id#??}.debug cache/debuginfod_client/$id/debuginfo
XDG_CACHE_HOME=$PWD/cache run report killed.cap
lacks_end
is_err ''
has ' burn  [host]'
DEBUGINFOD_CACHE_PATH=$PWD/cache/debuginfod_client run report killed.cap
has ' burn  [host]'
run report --symbols cache/debuginfod_client killed.cap
has ' burn  [host]'

# A completed recording of a stripped file has no names; a debug file that comes later has.
"$objcopy" --strip-all old host
JSPROF=stripped.cap ./host
run report stripped.cap
is_err ''
hasnt burn
has ' host+0x'
run report --symbols by-id stripped.cap
is_err ''
has ' burn  [host]'
hasnt ' host+0x'
XDG_CACHE_HOME=$PWD/cache run report stripped.cap
has ' burn  [host]'
run report --symbols wrong stripped.cap
is_err ''
has ' host+0x'
rm host
run report stripped.cap
is_err ''
has ' host+0x'
run report --symbols by-name stripped.cap
is_err ''
has ' burn  [host]'

# A capture without build ids: the command takes the user's file, and reports that.
run report --symbols /nowhere foreign.cap
hasnt 'confirms'
cp old by-name/other
run report --symbols by-name foreign.cap
is_err "jsprof: foreign.cap: no names or lines from /usr/lib/libfoo.so.1: No such file or \
directory
jsprof: foreign.cap: names of 1 file are from --symbols, which nothing in the capture \
confirms (it has no build id)"
exit $bad
