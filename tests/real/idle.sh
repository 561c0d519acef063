#!/bin/sh
# real/idle.sh - by the wall clock, the time in which an event loop waits counts only with
# --idle; a wait that the program asked for counts always.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

cat >host.c <<'END'
#include <jsprof.h>
#include <poll.h>
#include <string.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

__attribute__((noinline)) void work(double seconds)
{
    double until = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;
    while (now(CLOCK_PROCESS_CPUTIME_ID) < until)
        for (volatile int i = 0; i < 100000; i++)
            ;
}

__attribute__((noinline)) void wait_for(double seconds)
{
    double until = now(CLOCK_MONOTONIC) + seconds;
    while (now(CLOCK_MONOTONIC) < until)
        poll(NULL, 0, 20); /* a signal ends it early */
    __asm__ volatile("");
}

/* The name of GLib's loop; the caller of poll in between has another one. */
__attribute__((noinline)) void g_main_loop_run(double seconds)
{
    wait_for(seconds);
    __asm__ volatile("");
}

/* The name of a function of the C library, for one that works. */
__attribute__((noinline)) void epoll_pwait2(double seconds)
{
    work(seconds);
    __asm__ volatile("");
}

__attribute__((noinline)) void event_base_loop(double seconds)
{
    epoll_pwait2(seconds);
    __asm__ volatile("");
}

/* Work in a function of an interpreter that looks like the Lua module's. */
static int lua(jsprof *p, jsprof_thread *t, double seconds)
{
    jsprof_function *f;
    if (jsprof_counter(p, "Lua", "memory", NULL, JSPROF_COUNTER_WHOLE) < 0 ||
        jsprof_function_new(&f, "burn", "a.lua", 1, JSPROF_KIND_VM) < 0)
        return 1;
    jsprof_enter(t, f);
    work(seconds);
    jsprof_leave(t);
    return 0;
}

/* FILE cpu|wall, wait in the loop y|n, wait outside y|n, work|own|lua|rest */
int main(int argc, char **argv)
{
    /* The looker knows that poll() is over and waits for a processor, which is not idle. */
    jsprof_options o = { .size = sizeof o, .path = argv[1], .hz = 1000, .flags = JSPROF_TIMER };
    jsprof *p;
    jsprof_thread *t;
    (void)argc;
    o.clock = strcmp(argv[2], "wall") == 0 ? JSPROF_CLOCK_WALL : JSPROF_CLOCK_CPU;
    if (jsprof_open(&p, &o) < 0 || jsprof_thread_attach(p, "main", &t) < 0 || jsprof_start(p) < 0)
        return 1;
    g_main_loop_run(argv[3][0] == 'y' ? 0.8 : 0);
    wait_for(argv[4][0] == 'y' ? 0.4 : 0);
    if (strcmp(argv[5], "work") == 0)
        work(0.2);
    if (strcmp(argv[5], "own") == 0)
        event_base_loop(0.2);
    if (strcmp(argv[5], "lua") == 0 && lua(p, t, 0.04) != 0)
        return 1;
    if (strcmp(argv[5], "lua") == 0)
        work(0.2);
    return jsprof_thread_detach(t) < 0 || jsprof_close(p) < 0;
}
END
$CC -std=c11 -D_GNU_SOURCE -O1 -rdynamic -I"$SRCDIR/include" -o host host.c \
    "$B/lib/libjsprof.a" -pthread

total() # : the value that JSON's head has
{
    sed -n '1s/.*"value":\([0-9]*\).*/\1/p' out
}

./host loop.cap wall y n work
run report loop.cap
is_rc 0
grep -Eq '^Idle: [0-9.]+% of elapsed time \([0-9.]+ ms, [0-9,]+ samples?\), waiting in' out ||
    wrong 'no line about idle time'
hasnt 'waited for'
hasnt ' poll'
row ' work'
run report --idle loop.cap
is_rc 0
hasnt 'Idle:'
row ' poll'
for command in tree 'callers work' 'callees work' 'diff loop.cap'; do
    # shellcheck disable=SC2086
    run $command loop.cap
    is_rc 0
    has 'Idle: '
done

run report --json --native loop.cap
shown=$(total)
head=$(sed -n 's/.*"idle_value":\([0-9]*\).*/\1/p' out)
run report --json --native --idle loop.cap
all=$(total)
run report --json --native --category idle loop.cap
idle=$(total)
[ "$((shown + idle))" = "$all" ] || wrong "$shown and $idle are not $all"
[ "$head" = "$idle" ] || wrong "JSON's head has $head ns of idle time, not $idle"
[ "$idle" -gt 400000000 ] || wrong "only $idle ns are idle"
[ "$shown" -lt "$all" ] || wrong 'nothing is left out'
run callers poll loop.cap
is_rc 1
is_err 'jsprof: loop.cap: no function "poll"; --idle counts idle time, too'
run callers --idle poll loop.cap
is_rc 0
run annotate loop.cap main
is_rc 0
has 'Idle: '
run annotate loop.cap poll
is_rc 1
is_err 'jsprof: loop.cap: no function "poll" was sampled; --idle counts idle time, too'
run annotate --idle loop.cap poll
is_rc 0
hasnt 'Idle:'
run threads loop.cap
hasnt 'Idle:'
run convert --to folded loop.cap
grep -q ';poll[; ]' out || wrong 'an export lacks idle time'
run html loop.cap -o page.html
grep -q '"idle":' page.html || wrong 'the page does not say it'
run html --idle loop.cap -o page.html
! grep -q '"idle":' page.html || wrong 'the page says it with --idle'

# A filter chooses from the idle time, too.
run report --only main --json loop.cap
[ "$(total)" = "$shown" ] || wrong "not $shown"
run report --only work loop.cap
hasnt 'Idle:'

# Nothing but idle time: it counts.
./host only.cap wall y n rest
run report --only '^poll$' only.cap
is_rc 0
row ' poll'
hasnt 'Idle:'

# Below a function of the program itself that has such a name, all code counts.
./host own.cap wall n n own
run report own.cap
is_rc 0
row ' work'
hasnt 'Idle:'

# Advice is about the whole program. Idle time that was chosen is only a part of it.
./host both.cap wall y y rest
run report --idle both.cap
has 'The threads waited for '
run report --category idle both.cap
is_rc 0
hasnt 'The threads waited for '

# Lua is rare only by the time that counts.
./host lua.cap wall y n lua
run report lua.cap
is_rc 0
row ' burn'
hasnt 'Lua is in '
run report --category idle lua.cap
is_rc 0
hasnt 'Lua is in '

# Outside a loop it is a wait like any other, and on the CPU clock there is none.
./host outside.cap wall n y work
run report outside.cap
hasnt 'Idle:'
row ' poll'
./host cpu.cap cpu y n work
run report cpu.cap
hasnt 'Idle:'
run report --category idle cpu.cap
is_rc 1
is_err 'jsprof: cpu.cap: no samples in what was chosen of this capture'
echo 'idle kind=native' >rules
run report --categories rules --category idle cpu.cap
is_rc 0
row ' work'
exit $bad
