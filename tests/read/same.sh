#!/bin/sh
# read/same.sh - the reading library says of each made capture what the command says, also where
# it chooses a part of it; its samples add up to its functions; several captures are one as the
# command merges them.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"
$CC -std=c11 -Wall -Wextra ${WERROR:-} -I"$SRCDIR/include" -o show "$SRCDIR/tests/read/show.c" \
    -L"$B/lib" -ljsprof-read -Wl,-rpath,"$B/lib"
n=0

# The last fields of what the command or the library says; of the one they have in common, in
# any order where the library has none.
reduce() # VERB <CSV
{
    case $1 in
    tree) sed -E 's/^[0-9]+,[0-9]+,//; s/^id,parent,//' ;; # the numbers of nodes differ
    # without the threads that only the account of losses has: the command adds these
    threads) grep '^[0-9-]*,[0-9]' | cut -d , -f 1-8 | grep -v ',0,0,,,$' | sort ;;
    calls) sed 1d | sed -E 's/,[0-9]+(,[0-9]+,[0-9]+)$/\1/' | sort ;;
    edges) sed 1d | awk -F , '{ print $(NF - 2) "," $(NF - 1) }' | sort ;;
    annotate) awk -F , '$1 == "line" || $1 == "row" { n = 0
        for (i = 2; i < NF; i++) if ($i ~ /^"/) n = i + 1
        print $1 "," $n "," $(n + 2) "," $(n + 3) }' ;;
    diff) sed -E 's/(,[0-9.e+-]+){6}(,[01])$/\2/
        s/,share_before.*,significant/,significant/' ;;
    spreads) sed -E '1d; s/,(ns)?$//' ;;
    counters) sed -n 's/^counter,//p' | awk -F , '{ print $1 "," $2 "," $3 "," $4 }' ;;
    *) cat ;;
    esac
}

# The same words as options of the command.
same() # VERB CAPTURE [WORD[=VALUE]]...
{
    verb=$1 files=$2 command=$1
    shift 2
    options= function=
    case $verb in
    edges) command='calls --edges' ;;
    list) command='list --each' ;;
    counters) command=list ;;
    spreads) command='list --messages' ;;
    diff) files="good.cap $files" ;;
    callers | annotate) function=main ;;
    esac
    for w; do
        case $w in
        of=*) function=${w#of=} ;;
        *) options="$options --$w" ;;
        esac
    done
    # shellcheck disable=SC2086
    "$jsprof" $command --csv $options $files $function 2>err | reduce $verb >theirs || :
    # shellcheck disable=SC2086
    ./show $verb $files "$@" >ours 2>err || :
    n=$((n + 1))
    case $verb in
    threads | tree) reduce $verb <ours >both ;;
    calls | edges) sort ours >both ;;
    *) cat ours >both ;;
    esac
    mv both ours
    [ -s theirs ] || head -1 ours >theirs # the command says in words that there are none
    [ $verb != diff ] || [ "$(wc -l <theirs)" -gt 1 ] || return 0 # of a capture without samples
    diff theirs ours >diff.txt && return
    echo "same: $verb $files $*"
    head -10 diff.txt
    bad=1
}

for capture in *.cap; do
    for verb in report threads tree counters spreads calls edges diff; do
        same $verb "$capture"
    done
    same callers "$capture" of=work
    same list "$capture" time=2ms..8ms
    same annotate "$capture" of=work
    ./show samples "$capture" >sums 2>err || { cat err; bad=1; }
    [ "$(sort -u sums | wc -l)" = 1 ] || { echo "same: samples of $capture: $(cat sums)"; bad=1; }
done
for capture in good crowdbig defects events listing lies nested states tasks; do
    while read -r words; do
        # shellcheck disable=SC2086
        same ${words%% *} $capture.cap ${words#* }
    done <<EOF
report sort=total native
report sort=name vm hide-system
report only=w.*k time=2ms..8ms
report under=work thread=100
report not=leaf collapse-recursion sort=samples
report focus=work idle
report top-of=vm
report by=category category=vm
report by=thread
report by=state
threads idle
tree bottom-up native
tree recursion lines only=w.*k
callers native
annotate native
diff sort=total vm
EOF
done
for measure in alloc live; do
    same report allocations.cap measure=$measure
    same report allocations.cap measure=$measure by=kind
done
for state in running waiting asleep host; do
    same report states.cap state=$state
done
same report states.cap syscall=read
same report states.cap clock=cpu
same report events.cap during=gc/sweep
[ $n -gt 530 ] || { echo "same: only $n comparisons"; bad=1; }

# Several captures at once.
run merge good.cap killed.cap -o two.capture
mv two.capture two.cap
./show report good.cap killed.cap >ours
./show report two.cap >theirs
cmp ours theirs || bad=1
[ "$(wc -l <ours)" -gt 2 ] || { echo 'same: two captures have no functions'; bad=1; }

# What is wrong, and where.
says() # STATUS TEXT ARGUMENT...
{
    want=$1 text=$2 rc=0
    shift 2
    ./show "$@" >out 2>err || rc=$?
    ran="show $*"
    is_rc "$want"
    is_err "$text"
}
says 1 'show: missing.file.cap: No such file or directory (-2)' report missing.file.cap
printf '' >nothing.cap
says 1 'show: nothing.cap: empty file (-74)' report nothing.cap
says 1 'show: time: time wants FROM..TO as in 2s..5s, not "2." (-22)' report good.cap time=2.
says 1 'show: clock: clock is cpu or wall, not "x" (-22)' report good.cap clock=x
says 1 "show: by: by knows function, category, kind, tier, module, file, line, thread, state, \
syscall, task and label, not \"x\" (-22)" report good.cap by=x
says 1 'show: no thread "7" (there are: 100 main, 200 helper two) (-61)' report good.cap thread=7
says 1 'show: only: only: Unmatched ( or \( (-22)' report good.cap 'only=('
says 1 'show: state: state: the capture does not record what threads were doing (-61)' \
    report good.cap state=asleep
says 1 "show: good.cap: can not be merged with the first capture: one counts CPU time, elapsed \
time or samples, the other does not (-18)" report states.cap good.cap
exit $bad
