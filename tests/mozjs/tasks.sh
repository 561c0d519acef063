#!/bin/sh
# tasks.sh - what a GJS program schedules is in the capture: each callback and each job of a
# promise, how often it ran and who made it, as the script's own log has it.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

ROUNDS=8
PASSES=${LONG:+100}
PASSES=${PASSES:-3}

# A chain of three GTasks begins the first round. Each round goes through an async function, a
# timeout that wakes it, another async function, and the function of then(); the script logs their
# order. A callback of a sort is not scheduled.
cat >chain.js <<END
const {GLib, Gio} = imports.gi;
const loop = GLib.MainLoop.new(null, false);
const log = [];
function later(ms) {
    return new Promise(resolve => GLib.timeout_add(GLib.PRIORITY_DEFAULT, ms, function fire() {
        log.push('fire');
        resolve();
        return GLib.SOURCE_REMOVE;
    }));
}
async function first() {
    await null;
    log.push('first');
    await later(1);
    log.push('first');
    await second();
    log.push('first');
}
async function second() {
    await null;
    log.push('second');
}
let rounds = 0;
function tick() {
    log.push('tick');
    [3, 1, 2].sort((a, b) => a - b);
    first().then(function done() {
        log.push('done');
        if (++rounds < $ROUNDS)
            GLib.idle_add(GLib.PRIORITY_DEFAULT, tick);
        else
            loop.quit();
    });
    return GLib.SOURCE_REMOVE;
}
Gio.File.new_for_path('/proc/self/stat').read_async(0, null, function opened(file, result) {
    const stream = file.read_finish(result);
    log.push('opened');
    stream.read_bytes_async(16, 0, null, function received(from, bytes) {
        from.read_bytes_finish(bytes);
        log.push('received');
        file.load_contents_async(null, function loaded(same, contents) {
            same.load_contents_finish(contents);
            log.push('loaded');
            GLib.idle_add(GLib.PRIORITY_DEFAULT, tick);
        });
    });
});
loop.run();
print(log.join('\n'));
END

# Among short turns some of 50, 100 and 200 ms: the script computes, or reads from a slow pipe.
cat >stalls.js <<'END'
const {GLib, Gio} = imports.gi;
const loop = GLib.MainLoop.new(null, false);
function computes(ms) {
    const end = GLib.get_monotonic_time() + 1000 * ms;
    while (GLib.get_monotonic_time() < end);
}
function reads() {
    Gio.Subprocess.new(['sleep', '0.2'], Gio.SubprocessFlags.STDOUT_PIPE).communicate(null, null);
}
let turns = 0;
GLib.timeout_add(GLib.PRIORITY_DEFAULT, 2, function quick() {
    const at = f => GLib.idle_add(GLib.PRIORITY_HIGH, f);
    if (++turns === 20)
        at(function fifty() { computes(50); return false; });
    if (turns === 40)
        at(function waiting() { reads(); return false; });
    if (turns === 60)
        at(function hundred() { computes(100); return false; });
    if (turns === 80) loop.quit();
    return turns < 80;
});
loop.run();
END

recorded() # PROGRAM...
{
    timeout 60 "$@" >log 2>err
    cat err
    [ ! -s err ] && [ "$(grep -c . log)" = $((7 * ROUNDS + 3)) ] && whole cap &&
        "$JSPROF_TOOL" loop --limit 0 --csv cap | tr -d '"' >loop
}

runs() # TASK: how often the capture says that it ran
{
    awk -F, -v task="$1 (chain.js:" 'index($2, task) == 1 { n += $4 } END { print n + 0 }' loop
}

# The log names what each run did.
counted()
{
    cat loop
    for name in opened received loaded tick fire second done; do
        [ "$(runs $name)" = "$(grep -c "^$name$" log)" ] || return 1
    done
    [ "$(runs first)" = "$(grep -c '^first$' log)" ] && ! grep -q 'anonymous\|<' loop
}

# By the C function that took the callback.
named()
{
    grep -q '^GLib.timeout_add,fire (chain.js:' loop &&
        grep -q '^GLib.idle_add,tick (chain.js:' loop &&
        grep -q '^Gio.File.read_async,opened (chain.js:' loop &&
        grep -q '^Gio.InputStream.read_bytes_async,received (chain.js:' loop &&
        grep -q '^Gio.File.load_contents_async,loaded (chain.js:' loop &&
        grep -q '^promise,done (chain.js:' loop
}

# From the last `done` back to the program: the names of the log from its end to its beginning.
chained()
{
    "$JSPROF_TOOL" causes --limit 0 cap 'promise done' >causes
    awk -v RS= '{ n = gsub(/\n  by [^\n]*chain.js/, "&"); if (n > most) { most = n; text = $0 } }
        END { print text }' causes |
        sed -n 's/^  \(by \)\{0,1\}[^ ]* \([a-z]*\) (chain.js.*/\2/p' >seen
    sed '1!G; h; $!d' log | diff seen -
}

chained_each_time() # PROGRAM...
{
    for pass in $(seq $PASSES); do
        recorded "$@" && chained || { echo "pass $pass"; return 1; }
    done
}

# Each long turn has its task, and no short one is there.
stalled()
{
    "$JSPROF_TOOL" loop --csv stalls.cap | tr -d '"' | tee stalls.loop
    for name in fifty waiting hundred; do
        grep -Eq "^GLib.idle_add,$name \\(stalls.js:[0-9]+\\),1,1," stalls.loop || return 1
    done
}

# With the states of the thread, a read that blocks is no work; and no frame is ours.
explained_once()
{
    JSPROF_SOURCE=looker "$B/bin/gjs-console" --profile-output=states.cap --profile-clock=wall \
        --profile-tasks stalls.js &&
        "$JSPROF_TOOL" stalls --over 40ms --csv states.cap | tee states &&
        grep 'waiting (stalls.js' states | grep -q 'blocking' &&
        "$JSPROF_TOOL" tree --async states.cap >tree && ! grep 'tasks_' tree
}

# On a busy machine a stall may be that of a thread without a processor.
explained()
{
    explained_once || explained_once || explained_once
}

# Callbacks and promises that never run, one that never ends, and a source that is destroyed while
# it runs: what did not fit into the ring is counted.
cat >misuse.js <<'END'
const {GLib} = imports.gi;
const System = imports.system;
const n = Number(ARGV[0]), waiting = [];
function never() {}
for (let i = 0; i < n; i++) {
    GLib.timeout_add_seconds(GLib.PRIORITY_DEFAULT, 3600, never);
    waiting.push(new Promise(() => {}).then(never));
}
const loop = GLib.MainLoop.new(null, false);
const own = GLib.timeout_add(GLib.PRIORITY_DEFAULT, 1, function destroyed() {
    GLib.source_remove(own);
    GLib.idle_add(GLib.PRIORITY_DEFAULT, function exits() {
        System.exit(0);
    });
});
loop.run();
END

misused() # PROGRAM...
{
    rm -f cap
    timeout 60 "$@" || return 1
    "$JSPROF_TOOL" loop --limit 0 --csv cap | tr -d '"' | tee loop
    "$JSPROF_TOOL" info cap | tee info
    lost=$(sed -n 's/^  tasks  *\([0-9,]*\) records lost.*/\1/p' info | tr -d ,)
    made=$(sed -n 's/^  tasks  *\([0-9,]*\) tasks,.*/\1/p' info | tr -d ,)
    echo "made $made lost ${lost:=0} of 20000"
    [ "$made" -le 20010 ] && [ $((made + lost)) -ge 20002 ] && whole cap &&
        grep -q '^GLib.timeout_add,destroyed (misuse.js:[0-9]*),1,1,' loop &&
        awk -F, '/^GLib.idle_add,exits/ { n = $4 == 1 && $(NF - 1) == 1 } END { exit !n }' loop
}

# A fork without exec inside a task. Scripts can not call fork, so a preloaded library does, where
# GLib asks for the host's name. The child's capture has the run in which it began, and its own
# task. An alarm ends it: after an exit SpiderMonkey waits for threads that the child does not have.
cat >forks.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int gethostname(char *name, size_t size)
{
    pid_t child = fork();
    if (child > 0)
        waitpid(child, NULL, 0);
    else
        alarm(5);
    snprintf(name, size, "%s", child ? "parent" : "child");
    return 0;
}
END
cat >forks.js <<'END'
const {GLib} = imports.gi;
const System = imports.system;
const loop = new GLib.MainLoop(null, false);
GLib.idle_add(GLib.PRIORITY_DEFAULT, function forks() {
    const isChild = GLib.get_host_name() === 'child';
    GLib.idle_add(GLib.PRIORITY_DEFAULT, isChild ? function inChild() {
        System.exit(0);
    } : function inParent() {
        loop.quit();
        return false;
    });
    return false;
});
loop.run();
END

forked()
{
    rm -f forks.cap*
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC -o forks.so forks.c || return 1
    LD_PRELOAD=./forks.so JSPROF=forks.cap JSPROF_TASKS=1 JSPROF_CHILDREN=1 \
        "$GJS" forks.js 2>err
    status=$?
    cat err
    ls forks.cap*
    [ $status = 0 ] && whole forks.cap && mv forks.cap parent.cap && set -- forks.cap.* &&
        [ $# = 1 ] && mv "$1" child.cap && "$JSPROF_TOOL" info child.cap || return 1
    "$JSPROF_TOOL" loop --limit 0 --csv parent.cap | tr -d '"' | tee parent
    "$JSPROF_TOOL" loop --limit 0 --csv child.cap | tr -d '"' | tee child
    grep -q '^GLib.idle_add,forks (forks.js:[0-9]*),1,1,' parent &&
        grep -q '^GLib.idle_add,inParent (forks.js:[0-9]*),1,1,' parent &&
        grep -q '^GLib.idle_add,inChild (forks.js:[0-9]*),1,1,' child &&
        ! grep -q inChild parent && ! grep -q inParent child
}

for program in gjs-console jsprof-gjs; do
    UNDER=$program
    record="$B/bin/$program --profile-output=cap"
    stalls="$B/bin/$program --profile-output=stalls.cap --profile-clock=wall --profile-stalls=40ms"
    stock=
    [ $program = gjs-console ] || stock="-- gjs-console"
    # shellcheck disable=SC2086
    check 'a program is recorded with its tasks' recorded $record --profile-tasks $stock chain.js
    check 'each ran as often as the log says' counted
    check 'each has the name of what scheduled it' named
    # shellcheck disable=SC2086
    check 'the chain of causes is the log' chained_each_time $record --profile-tasks $stock chain.js
    # shellcheck disable=SC2086
    check 'a program with stalls ends' $stalls $stock stalls.js
    check 'its long turns are in the capture' stalled
    # shellcheck disable=SC2086
    check 'tasks that never run, or never end' misused $record --profile-tasks $stock misuse.js \
        20000
done
UNDER=
check 'a stall has its cause' explained
check 'a fork in a task' forked
finish
