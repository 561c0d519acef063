#!/bin/sh
# real/terminal.sh - nothing wraps, nothing of a capture controls the terminal, and
# colours appear on a terminal only.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

script -qec true /dev/null >/dev/null 2>&1 </dev/null || {
    echo 'SKIP: needs pseudo-terminals (/dev/pts) and script'
    exit 77
}

widest() { wc -L <out; } # in columns, wide characters count twice

uncut='^ +[0-9]+  |expirations|THREAD|^After a function comes|^Lost|samples|clock|more function'
uncut="$uncut|changed by|and .* more"
for columns in 40 60 80 100 132; do
    for view in report tree 'tree --bottom-up' info threads list 'list --each' \
        'diff good.cap' 'callers main'; do
        for name in good evil foreign events hostile; do
            case "$view $columns" in info?40 | 'list --each 40') continue ;; esac
            # shellcheck disable=SC2086
            COLUMNS=$columns run $view $name.cap
            # The table of threads and closing sentences are not cut.
            grep -Ev "$uncut" out >kept || :
            mv kept out
            [ "$(widest)" -le "$columns" ] || wrong "$(widest) columns of $columns"
        done
    done
done
# A narrow screen has what a thread ran rather than when.
COLUMNS=80 run threads good.cap
has 'MOST OF IT IN'
hasnt 'FROM s'
COLUMNS=100 run threads good.cap
row '0.01 0.01 work ('
COLUMNS=80 run report good.cap
has 'work (…/work.js:20:3)'
COLUMNS=50 run report good.cap
has 'work (…'
LC_ALL=C COLUMNS=80 run report good.cap
has 'work (.../'

# What there is no room for goes, and comes with the column that it needs.
report_head() # COLUMNS HEAD
{
    COLUMNS=$1 run report good.cap
    row "SELF $2"
}
report_head 49 'TOTAL FUNCTION'
report_head 50 'TIME TOTAL FUNCTION'
report_head 59 'TIME TOTAL FUNCTION'
report_head 60 'TIME TOTAL KIND FUNCTION'
COLUMNS=79 run callers main good.cap
hasnt 'AND ITS CALLERS'
COLUMNS=80 run callers main good.cap
has 'FUNCTION AND ITS CALLERS (above), CALLEES (below)'

harmless() # the file that was printed
{
    if LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" out; then
        wrong 'lets control characters through'
    fi
    iconv -f UTF-8 -t UTF-8 out >/dev/null 2>&1 || wrong 'is not valid UTF-8'
}
evil=$(printf '\033[31mx\033[0m\r')
for name in evil hostile; do
    for view in info report tree 'tree --bottom-up --lines' dump threads list 'list --each' \
        "callers $evil" "callees $evil" "diff $name.cap" 'info --json' 'report --json' \
        'tree --json' 'threads --json' 'list --json' 'list --each --json' 'dump --json' \
        "callers --json $evil" "diff --json $name.cap"; do
        # shellcheck disable=SC2086
        run $view $name.cap
        harmless
        cp err out
        harmless
    done
done
run threads --thread "$evil" hostile.cap
is_rc 0
run threads --thread "$evil$evil" hostile.cap
cp err out
harmless
run list hostile.cap
has '\x1b[31m'
run report evil.cap
has '\x1b[31mred\x1b[0m\x0dover\x08\x09(a\x0ab)'
has 'bad \xff\xc3( utf8 \xc0\xaf'
has 'rtl \u{202e}evil \x9b31m'
has 'café 日本'

command -v script >/dev/null || { echo 'SKIP: needs bsdutils'; exit 77; }
# On a terminal of its own: colours, unless they are declined.
on_terminal() # WORDS: leaves the output in `out`
{
    ran="$*, on a terminal"
    : >err
    script -qec "$*" /dev/null </dev/null >out
}
escape=$(printf '\033[')
on_terminal env TERM=xterm "$jsprof" report good.cap
has "$escape"
on_terminal env TERM=xterm NO_COLOR=1 "$jsprof" report good.cap
hasnt "$escape"
on_terminal env TERM=dumb "$jsprof" report good.cap
hasnt "$escape"
run report good.cap
hasnt "$escape"
# A pager gets what the terminal would, with its colours and width; nothing else has one.
on_terminal "TERM=xterm PAGER='sed s/^/page:/' '$jsprof' report good.cap"
has 'page:'
has "$escape"
on_terminal "TERM=xterm JSPROF_PAGER= PAGER='sed s/^/page:/' '$jsprof' report good.cap"
hasnt 'page:'
on_terminal "PAGER='sed s/^/page:/' '$jsprof' merge good.cap -o merged.cap"
hasnt 'page:'
on_terminal "stty cols 59; PAGER='sed s/^//' '$jsprof' report good.cap"
hasnt 'KIND'
on_terminal "PAGER='head -1 >first' '$jsprof' report good.cap; echo rc \$?"
has 'rc 0'
[ "$(wc -l <first)" -eq 1 ] || wrong 'the pager has not read one line'
on_terminal "PAGER=false '$jsprof' report missing.file; echo rc \$?"
has 'rc 1'
# A pager that can not be run shows nothing: that is an error.
on_terminal "PAGER='no-such-pager -x' '$jsprof' report good.cap; echo rc \$?"
has 'no-such-pager -x could not be run'
has 'rc 1'
# Ctrl-C reaches both. While the pager stays, so does the command: the shell reads no keys.
interrupt='kill -INT $PPID; cat >rest; sleep 0.3; echo left'
on_terminal "PAGER='cat >rest; kill -INT \$PPID; sleep 0.3; echo left' '$jsprof' report good.cap
    echo rc \$?"
tr -d '\r\n' <out | grep -q 'leftrc 0$' || wrong 'Ctrl-C leaves the pager alone'
on_terminal "PAGER='head -c 1 >first; $interrupt' '$jsprof' dump --json crowd.cap; echo rc \$?"
tr -d '\r\n' <out | grep -q 'leftrc 130$' || wrong 'Ctrl-C leaves the pager alone while it reads'
PAGER='sed s/^/page:/' run report good.cap
hasnt 'page:'
# CSV is exact, but for a terminal.
for view in report tree threads list 'list --each' dump; do
    # shellcheck disable=SC2086
    on_terminal env TERM=dumb "$jsprof" $view --csv hostile.cap
    tr -d '\r' <out >kept
    mv kept out
    harmless
    has '\x1b[31mx'
done
exit $bad
