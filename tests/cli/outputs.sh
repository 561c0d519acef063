#!/bin/sh
# cli/outputs.sh - each command and each export says of the made captures, byte for byte, what
# tests/cli/outputs/ has. A change that is meant is taken over by
# `sh tests/cli/outputs.sh --update`, and read in the diff of the commit.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
export TZ=UTC

expected=$SRCDIR/tests/cli/outputs
version=$("$jsprof" --version | cut -d ' ' -f 2 | sed 's|[.]|[.]|g')
printf 'first\nsecond\n\tthird "line"\n' >work.js

# Of a page only what it has of the capture.
page_data()
{
    sed -n '/id="meta"/,/^<script>$/p' "$1"
}

say() # ARGUMENT...
{
    printf '$ %sjsprof %s\n' "${COLUMNS:+COLUMNS=$COLUMNS }" "$*"
    "$jsprof" "$@" 2>&1 && status=0 || status=$?
    echo "status $status"
}

# Of more than 20,000 bytes the beginning, and a sum of all.
say_long() # ARGUMENT...
{
    say "$@" >long.txt
    head -c 4000 long.txt
    [ "$(wc -c <long.txt)" -le 20000 ] && tail -c +4001 long.txt || { echo ...; cksum <long.txt; }
}

say_width() # CAPTURE: on terminals of several widths
{
    for columns in 60 90 140; do
        export COLUMNS=$columns
        for command in report threads tree calls 'callers work' list info; do
            say $command "$1"
        done
        unset COLUMNS
    done
}

say_all() # CAPTURE
{
    say info "$1"
    say info --json "$1"
    say threads "$1"
    say threads --csv "$1"
    say list "$1"
    say list --each --csv "$1"
    say report "$1"
    say report --native --json "$1"
    say report --sort total --hide-system --csv "$1"
    say report --only 'w.*k' --time 2ms..8ms "$1"
    say report --under work --thread 100 "$1"
    say tree "$1"
    say tree --json --native "$1"
    say callers work "$1"
    say callees main --csv "$1"
    say annotate --source . "$1" work
    say annotate --json "$1" work
    say annotate --dot "$1" work
    say calls "$1"
    say calls --edges --min 1 "$1"
    say calls --json "$1"
    say calls --csv --sort calls "$1"
    say diff good.cap "$1"
    say diff --csv --sort total "$1" merged.cap
    say calls calls.cap "$1"
    say calls --csv "$1" calls2.cap
    say_long dump "$1"
    for to in folded callgrind perf speedscope firefox chrome csv json; do
        say_long convert --to $to "$1"
    done
    say convert --to pprof -o pprof.gz "$1"
    [ ! -e pprof.gz ] || gzip -dc pprof.gz | cksum
    say convert -o out.pftrace "$1"
    [ ! -e out.pftrace ] || cksum <out.pftrace
    say merge "$1" good.cap -o two.cap
    [ -e two.cap ] || say merge "$1" crowdbig.cap -o two.cap
    [ ! -e two.cap ] || { cksum <two.cap; say_long dump two.cap; }
    say convert --to compact -o small.cap "$1"
    [ ! -e small.cap ] || { cksum <small.cap; say report small.cap; }
    say html "$1" -o page.html
    [ ! -e page.html ] || page_data page.html
    say html good.cap "$1" -o page.html
    [ ! -e page.html ] || page_data page.html
    rm -f pprof.gz two.cap small.cap page.html
}

# The measures of allocations, in each command that takes them.
say_measures() # CAPTURE
{
    for measure in alloc live; do
        say report --measure $measure "$1"
        say report --measure $measure --json "$1"
        say report --measure $measure --by category --csv "$1"
        say tree --measure $measure "$1"
        say tree --measure $measure --json "$1"
        say callers --measure $measure work "$1"
        say callees --measure $measure main "$1"
        say annotate --measure $measure --source . "$1" work
        say diff --measure $measure "$1" "$1"
        for to in folded callgrind speedscope pprof; do
            say_long convert --measure $measure --to $to -o out "$1"
            [ ! -e out ] || { [ $to = pprof ] && gzip -dc out | cksum || cat out; }
            rm -f out
        done
        say html --measure $measure "$1" -o page.html
        [ ! -e page.html ] || page_data page.html
        rm -f page.html
    done
}

say_tasks() # CAPTURE
{
    for by in name kind task thread; do
        for form in --json --csv --limit=2; do
            say loop --by $by $form "$1"
        done
    done
    for sort in self total runs mean 95% max delay; do
        say loop --sort $sort --csv "$1"
    done
    say loop --time 25ms..55ms "$1"
    say convert --to dot "$1"
    for form in --json --csv --limit=1; do
        say diff --tasks $form "$1" "$1"
        say diff --tasks $form "$1" tasks2.cap
    done
    for which in show promise '#5' 99 '' app/click; do
        for form in --json --csv --limit=1 --stacks --dot; do
            say causes $form "$1" "$which"
        done
    done
    say loop --thread 100 --csv "$1"
    for columns in 50 60 70 100; do
        export COLUMNS=$columns
        say loop "$1"
        unset COLUMNS
    done
}

# In colours, as on a terminal; ESC is shown as \e.
say_colours() # ARGUMENT...
{
    printf '$ jsprof %s\n' "$*"
    script -qec "env TERM=xterm COLUMNS=110 $jsprof $*" /dev/null </dev/null |
        tr -d '\r' | sed 's/\x1b/\\e/g'
}

say_all_colours()
{
    for command in info report 'report --lines --native' tree 'tree --bottom-up' threads list \
        'list --each' calls 'calls --edges' 'callers work' dump 'diff good.cap' \
        'annotate --source . work' 'calls calls.cap'; do
        for name in crowd merged calls events listing missing changed; do
            # shellcheck disable=SC2086
            case $command in
            *' work') say_colours ${command% work} $name.cap work ;;
            *) say_colours $command $name.cap ;;
            esac
        done
    done
}

compare() # NAME: NAME.txt with what is expected, or the other way with --update
{
    if [ "$update" ]; then
        mkdir -p "$expected"
        cp "$1.txt" "$expected/$1.txt"
    elif ! diff -u "$expected/$1.txt" "$1.txt" >diff.txt; then
        cut -c 1-200 diff.txt | sed -n '1,40p'
        bad=1
    fi
}

update=${1:-}
for name in $("$tmp/captures"); do
    case $name in big | crowdbig | killed) continue ;; esac # as good, but for what other tests see
    case $name in tasks2 | causes) continue ;; esac # diff --tasks and causes.sh have them
    case $name in looked | lookedwall | timed) continue ;; esac # states.sh has their numbers
    {
        say_all "$name.cap"
        case $name in crowd | calls | events | merged) say_width "$name.cap" ;; esac
        [ "$name" != allocations ] || say_measures "$name.cap"
        [ "$name" != tasks ] || say_tasks "$name.cap"
    } | sed "s/^\(creator: .*\|{\"version\":\"\)$version/\1VERSION/
        s/\([0-9][.][0-9]\{10\}\)[0-9]*/\1/g" >"$name.txt" # libm's last digits differ
    compare "$name"
done
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    say_all_colours | sed "s/$version/VERSION/" >colours.txt
    compare colours
else
    echo 'outputs: colours were not compared: needs pseudo-terminals (/dev/pts) and script'
fi

# The order of bytes in a file changes nothing that is said of it. A compact one keeps it.
mkdir big
for file in *.cap work.js; do
    ln -s "../$file" big
done
ln -sf ../crowdbig.cap big/crowd.cap
say_all crowd.cap | grep -v '^[0-9]* [0-9]*$' >little.txt
(cd big && say_all crowd.cap) | sed 's/big-endian/little-endian/; /^[0-9]* [0-9]*$/d' >big.txt
diff little.txt big.txt >diff.txt || { cut -c 1-200 diff.txt | sed -n '1,40p'; bad=1; }
exit $bad
