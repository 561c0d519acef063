#!/bin/sh
# alone.sh - recording adds no thread to a Lua program of one: the capture is written all the
# same, nothing is lost, and a signal that ends the program finds it everywhere.
#
# SPDX-License-Identifier: MIT
set -u
. "$(dirname "$0")/lib.sh"

mkfifo "$SCRATCH/fifo"
exec 9<>"$SCRATCH/fifo" # so that who reads it waits

is_alone()
{
    cat >"$SCRATCH/p.lua" <<'EOF'
local threads = "?"
for line in io.lines "/proc/self/status" do
  threads = line:match "^Threads:%s*(%d+)" or threads
end
print(threads)
EOF
    record "$SCRATCH/p.lua" >"$SCRATCH/out"
    cat "$SCRATCH/out"
    [ "$(cat "$SCRATCH/out")" = 1 ]
}

burns='local t, kept, x = 0, {}, os.clock()
    while os.clock() - x < 0.6 do
      for i = 1, 1e4 do t = t + i % 7 end
      kept[#kept + 1] = ("x"):rep(100 + #kept):gsub("x", "yy")
    end'

# One may arrive after the end.
nothing_lost() # OPTIONS...
{
    record "$@" </dev/null && whole && ! info_has '^ +lost: .*ring'
}

# Thousands of samples in one call, many times what the ring holds; on a busy machine, fewer of
# more expirations each.
waits()
{
    nothing_lost --profile-clock=wall --profile-hz=5000 -e 'os.execute "sleep 1"' &&
        info_has '^[1-9][0-9]*,[0-9]{3} expirations'
}

# Who kills it may read what there was a second before.
survives() # SIGNAL COMMAND...
{
    survives_signal=$1
    shift
    rm -f "$SCRATCH/cap"
    "$@" &
    alone_pid=$!
    for _ in $(seq 600); do
        info_has 'complete up to (0\.[6-9]|[1-9])' >/dev/null && break
        sleep 0.1
    done
    kill -"$survives_signal" $alone_pid
    wait $alone_pid 2>/dev/null
    info_has 'complete up to (0\.[6-9]|[1-9])'
}

# Not only at its end: what `jsprof list` says of it is values, the least, the last.
memory_is_told() # MODE
{
    record --profile-mode="$1" -e "$burns" &&
        "$B/bin/jsprof" list "$SCRATCH/cap" >"$SCRATCH/list" 2>&1
    cat "$SCRATCH/list"
    awk '/^Lua \/ memory/ { good = $4 >= 4 } END { exit !good }' "$SCRATCH/list"
}

# Has the process a handler for this signal, soon?
catches() # PID NUMBER
{
    for _ in $(seq 3000); do
        caught=$(sed -n 's/^SigCgt:[[:space:]]*........//p' "/proc/$1/status" 2>/dev/null)
        [ $((0x${caught:-0} >> ($2 - 1) & 1)) = 1 ] && return
        sleep 0.01
    done
    echo "no handler for signal $2"
    return 1
}

# The signal's own status, soon, and a capture that says "final".
ends() # SIGNAL NUMBER OPTIONS AND SCRIPT...
{
    ends_signal=$1
    ends_number=$2
    ends_status=$((128 + ends_number))
    shift 2
    rm -f "$SCRATCH/cap"
    env --default-signal=INT,HUP,TERM "$B/bin/jsprof-lua$VERSION" \
        --profile-output="$SCRATCH/cap" "$@" <"$SCRATCH/fifo" &
    alone_pid=$!
    catches $alone_pid $ends_number || return 1
    sleep 0.3
    kill -"$ends_signal" $alone_pid
    began=$(date +%s)
    wait $alone_pid 2>/dev/null
    found=$?
    echo "status $found after $(($(date +%s) - began)) s"
    [ $found = $ends_status ] && [ $(($(date +%s) - began)) -le 10 ] && whole
}

# Where the signal finds it: in the interpreter, in the allocator, in the C library for long,
# in a system call that waits, in an error, and in what counts calls.
everywhere()
{
    ends TERM 15 -e 'while true do end' &&
        ends INT 2 -e 'local t = {} while true do t[#t % 1000 + 1] = {} end' &&
        ends TERM 15 -e 'while true do local s = ("x"):rep(1e7):upper() end' &&
        ends TERM 15 -e 'io.read()' &&
        ends HUP 1 -e 'os.execute "sleep 20"' &&
        ends INT 2 --profile-mode=both -e 'while true do pcall(error, "x") end' &&
        ends TERM 15 --profile-clock=wall -e 'io.read()'
}

# Preloaded, it sends SIGTERM to the process. -DLOOK and -DTWICE: when the library asks for the
# sixth time who has its signal, which it does as it looks at the memory, in code that could call
# anything; that takes so long that a timer's SIGTERM finds the thread there, or SIGTERM comes
# twice, as by timeout(1). -DLEND: it has lent a small stack to handlers, whose own time it means.
cat >"$SCRATCH/ends.c" <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { SIXTH = 6, MS = 1000000, BYTES = 8192, GUARD = 1 << 20 };

static void soon(long ns) /* of CPU time: a busy machine starts late */
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGTERM };
    struct itimerspec at = { .it_value = { 0, ns } };
    static timer_t timer;
    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
    timer_settime(timer, 0, &at, NULL);
}

#ifdef LEND
static void __attribute__((constructor)) lend(void)
{
    char *low = mmap(0, GUARD + BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = { .ss_sp = low + GUARD, .ss_size = BYTES };
    mprotect(stack.ss_sp, BYTES, PROT_READ | PROT_WRITE);
    sigaltstack(&stack, 0);
    soon(500 * MS);
}
#else
int sigaction(int signo, const struct sigaction *to, struct sigaction *was)
{
    static volatile unsigned n, sink;
    if ((signo == SIGPROF || signo == SIGURG) && !to && ++n == SIXTH) {
#ifdef LOOK
        soon(2 * MS);
        for (unsigned i = 0; i < 50 * MS; i++)
            sink = sink + i;
#else
        for (sink = 0; sink < 2; sink++)
            kill(getpid(), SIGTERM);
#endif
    }
    return ((int (*)(int, const struct sigaction *, struct sigaction *))
            dlsym(RTLD_NEXT, "sigaction"))(signo, to, was);
}
#endif
EOF

ends_preloaded() # WAY
{
    rm -f "$SCRATCH/cap"
    ${CC:-cc} -O1 -D"$1" -shared -fPIC -o "$SCRATCH/ends.so" "$SCRATCH/ends.c" -ldl || return 1
    LD_PRELOAD="$ASAN_LIBRARY $SCRATCH/ends.so" timeout -s KILL 20 \
        "$B/bin/jsprof-lua$VERSION" --profile-mode=both --profile-output="$SCRATCH/cap" \
        -e 'local function f() end while true do f() end'
    found=$?
    echo "status $found"
    [ $found = 143 ] && whole
}

one()
{
    check 'there is one thread' is_alone
    check 'ten times the rate, in Lua and in C' nothing_lost --profile-hz=10000 \
        --profile-clock=wall -e "$burns"
    check 'one system call that waits for long' waits
    check 'most of it is in the file before the end' survives KILL \
        "$B/bin/jsprof-lua$VERSION" --profile-output="$SCRATCH/cap" -e 'while true do end'
    check 'so it is for a program that requires the module' survives TERM env \
        LD_PRELOAD="$ASAN_LIBRARY" "$LUA" -e "require 'jsprof'.start{ output = '$SCRATCH/cap' }
            while true do end"
    check 'the memory, while samples are taken' memory_is_told sample
    check 'the memory, while calls are counted' memory_is_told calls
    check 'SIGTERM, SIGINT, SIGHUP, wherever it is' everywhere
    check 'SIGTERM in the middle of a look at the memory' ends_preloaded LOOK
    check 'SIGTERM twice' ends_preloaded TWICE
    check 'SIGTERM where signals have a small stack' ends_preloaded LEND
}

each_version one
finish
