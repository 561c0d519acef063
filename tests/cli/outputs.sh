#!/bin/sh
# cli/outputs.sh - the sessions of tests/cli/outputs/: each line that begins with "$ " is run on
# the made captures, and prints what follows it. A line that begins with "## " is a comment. After
# a change that is meant, `sh tests/cli/outputs.sh --update` writes the sessions anew; they are
# read in the diff of the commit.
#
# A session names what one capture has and the others lack, and runs the commands that show it.
# Long outputs are cut by a pipe, so that each of them can be read.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
export TZ=UTC jsprof version

expected=$SRCDIR/tests/cli/outputs
version=$("$jsprof" --version | cut -d ' ' -f 2 | sed 's|[.]|[.]|g')
printf 'first\nsecond\n\tthird "line"\n' >work.js
mkdir bin
export PATH="$tmp/bin:$PATH"

# The commands of the sessions beside those of the system. jsprof names only a bad status.
cat >bin/jsprof <<'END'
#!/bin/sh
"$jsprof" "$@" || echo "status $?" >&2
END
cat >bin/table <<'END' # of a view only its table, without the account of losses
#!/bin/sh
jsprof "$@" | sed -n '/^ *[A-Z][A-Z]/,/^$/{ /./p; }'
END
cat >bin/fields <<'END' # of JSON each list and each object begins a line
#!/bin/sh
jsprof "$@" | sed 's/,\([[{]\|"[A-Za-z_]*":[[{]\)/,\n\1/g'
END
cat >bin/page <<'END' # of a page only what it has of the captures
#!/bin/sh
jsprof html "$@" -o page.html
[ ! -e page.html ] || sed -n '/id="meta"/,/^<script>$/p' page.html
rm -f page.html
END
cat >bin/sums <<'END' # a line of checksums, of each format that takes it
#!/bin/sh
printf '%s:' "$*"
for format in callgrind chrome csv dot firefox folded json otlp perf perfetto pprof speedscope; do
    jsprof convert --to $format "$@" 2>/dev/null >export
    [ ! -s export ] || case $format in
    pprof) printf ' %s %s' $format $(gzip -dc <export | cksum) ;;
    *) printf ' %s %s' $format "$(sed "s/jsprof $version/jsprof/
        s/\"version\":\"$version\"//" export | cksum)" ;;
    esac
done
echo
END
cat >bin/coloured <<'END' # as on a terminal; ESC is shown as \e
#!/bin/sh
script -qec "env TERM=xterm COLUMNS=110 $jsprof $*" /dev/null </dev/null |
    tr -d '\r' | sed 's/\x1b/\\e/g'
END
chmod +x bin/*

session() # FILE: print it anew
{
    grep -E '^([$]|##) ' "$1" | while IFS= read -r line; do
        printf '%s\n' "$line"
        case $line in '$ '*) sh -c "${line#??}" </dev/null 2>&1 ;; esac
    done | sed "s/^\(creator: .*\|{\"version\":\"\)$version/\1VERSION/
        s/\([0-9][.][0-9]\{10\}\)[0-9]*/\1/g" # libm's last digits differ
}

same() # EXPECTED FILE
{
    diff -u "$1" "$2" >diff.txt || { cut -c 1-200 diff.txt | sed -n '1,40p'; bad=1; }
}

for file in "$expected"/*.txt; do
    name=$(basename "$file")
    if [ "$name" = colours.txt ] && ! script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
        echo 'outputs: colours were not compared: needs pseudo-terminals (/dev/pts) and script'
        continue
    fi
    session "$file" >"$name"
    [ "${1:-}" != --update ] || cp "$name" "$file"
    same "$file" "$name"
done

# The order of bytes in a file changes nothing that is said of it.
cp big.cap goodbig.cap
for name in good crowd states; do
    cp ${name}big.cap $name.cap
    session "$expected/$name.txt" | sed 's/big-endian/little-endian/' >big.txt
    same $name.txt big.txt
done
exit $bad
