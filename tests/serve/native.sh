#!/bin/sh
# serve/native.sh - jsprof record -- PROGRAM of a program that knows nothing of jsprof: the C stacks
# of all its threads, of what it executes and forks, with its output and exit status unchanged; and
# one line for a program into which nothing can be loaded.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/serve/lib.sh"
if readelf -d "$B/lib/jsprof/libjsprof-native.so" | grep -Eq 'lib[atu]+b?san'; then
    echo 'SKIP: a sanitizer can not be loaded into other programs'
    exit 77
fi

cat >host.c <<'END_OF_PROGRAM'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sum;
static int end;

#define BURN(name)                                                                  \
    __attribute__((noinline)) void name(void)                                       \
    {                                                                               \
        struct timespec t;                                                          \
        do {                                                                        \
            for (unsigned i = 0; i < 100000; i++)                                   \
                sum += i;                                                           \
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);                             \
        } while (t.tv_sec == 0 && t.tv_nsec < 300000000);                           \
        sum++;                                                                      \
    }
BURN(in_main)
BURN(in_thread)
BURN(in_child)

static void *work(void *data)
{
    in_thread();
    if (!data)
        pthread_exit(&end);
    return data;
}

int main(int argc, char **argv)
{
    pthread_t one, two;
    void *left, *returned;
    if (argc > 1 && strcmp(argv[1], "forks") == 0 && fork() == 0) {
        in_child();
        _exit(0);
    }
    pthread_create(&one, NULL, work, NULL);
    pthread_create(&two, NULL, work, &one);
    in_main();
    pthread_join(one, &left);
    pthread_join(two, &returned);
    while (wait(NULL) > 0)
        continue;
    printf("%s %d %d\n", getenv("WORD"), left == &end, returned == &one);
    if (argc > 1 && strcmp(argv[1], "quick") == 0) {
        fflush(stdout);
        _exit(6);
    }
    return 5;
}
END_OF_PROGRAM
"${CC:-gcc}" -O1 -g -o host host.c -pthread
WORD=mine
export WORD

# has_functions CAPTURE FUNCTION...: each has a share that chance allows of that many equal ones.
has_functions()
{
    functions_of=$1
    shift
    run report --native --csv --limit 0 "$functions_of"
    is_rc 0
    for f; do
        grep -q "^\"$f\"," out || wrong "has no $f"
    done
}

# A program, its threads, its status.
for how in slow quick; do
    rm -f a.cap
    run record -o a.cap --report -- ./host $how
    [ $how = slow ] && is_rc 5 || is_rc 6
    has 'mine 1 1'
    is_whole a.cap
    has_functions a.cap in_main in_thread
    run threads --csv a.cap
    [ "$(grep -c ',"host"' out)" = 2 ] && grep -q ',"main"' out || wrong 'other threads'
    [ "$(ls a.cap*)" = a.cap ] || { ls a.cap* >out; wrong 'other files'; }
done

# A program that another one executes in its place, elsewhere. Only the last one counts.
mkdir elsewhere
run record -o a.cap -- env -C elsewhere sh -c "exec '$tmp/host'"
is_rc 5
is_whole a.cap
has_functions a.cap in_main in_thread
[ "$(ls a.cap* elsewhere)" = "$(printf 'a.cap\n\nelsewhere:')" ] ||
    [ "$(find . -name '*.cap*')" = ./a.cap ] || wrong 'other files'

# Children: not without being asked; several captures; one.
rm -f a.cap
run record -o a.cap -- ./host forks
is_rc 5
[ "$(ls a.cap*)" = a.cap ] || wrong 'records a child'
run report --native --csv --limit 0 a.cap
! grep -q in_child out || wrong 'has a function of a child'
run record -o a.cap --children -- sh -c './host forks; true'
is_rc 0
[ "$(ls a.cap.* | wc -l)" = 2 ] || { ls a.cap* >out; wrong 'not two children'; }
for f in a.cap a.cap.*; do
    is_whole "$f"
done
rm -f a.cap*
run record -o a.cap --children --merge -- sh -c './host forks; true'
is_rc 0
[ "$(ls a.cap*)" = a.cap ] || { ls a.cap* >out; wrong 'not one capture'; }
has_functions a.cap in_main in_thread in_child

# The report while it runs, and lines of progress.
run record -o a.cap --follow --quiet -- ./host
is_rc 5
has in_main
run record -o a.cap --progress -- sleep 2.5
is_rc 0
says 'a.cap: 1 s, '
says 'a.cap: 2 s, '

# In stall mode what a loop does between two waits is a turn: two of 60 turns are in the capture,
# and nothing of a program that does not wait. A machine that takes a processor away may make
# others long, but none that was shorter than the limit is there. A signal handler that waits within
# a wait changes nothing.
cat >loop.c <<'END_OF_PROGRAM'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static volatile sig_atomic_t is_waiting;
static struct pollfd none[1]; /* of a known size, as __poll_chk checks it */
static volatile nfds_t n_none;
static int epoll;
static int waits_5_ms(void)
{
    struct epoll_event event;
    struct timespec time = { 0, 5000000 };
    (void)event;
    (void)time;
    return WAIT;
}
static void waits(int signo)
{
    (void)signo;
    if (is_waiting)
        poll(NULL, 0, 0);
}
static void each_ms(int ms)
{
    struct itimerval it = { { 0, 1000 * ms }, { 0, 1000 * ms } };
    signal(SIGALRM, waits);
    setitimer(ITIMER_REAL, &it, NULL);
}
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
__attribute__((noinline)) void busy_for(double ms)
{
    double end = now() + ms;
    while (now() < end)
        __asm__ volatile("" : : : "memory");
    __asm__ volatile("");
}
__attribute__((noinline)) void reads(FILE *from)
{
    char line[16];
    if (!fgets(line, sizeof line, from))
        puts("no line");
    __asm__ volatile("");
}
int main(void)
{
    epoll = epoll_create1(0);
    each_ms(2);
    for (int i = 0; i < 60; i++) {
        is_waiting = 1;
        if (waits_5_ms() < 0 && errno != EINTR)
            return 1;
        is_waiting = 0;
        if (i == 29)
            each_ms(0);
        if (i == 30)
            busy_for(200);
        if (i == 40) {
            FILE *from = popen("sleep 0.2; echo line", "r");
            reads(from);
            pclose(from);
        }
    }
    return 0;
}
END_OF_PROGRAM
loop_with() # WAIT FLAGS...
{
    wait=$1
    shift
    "${CC:-gcc}" -g -U_FORTIFY_SOURCE "$@" -DWAIT="$wait" -o loop loop.c
}
stalled()
{
    JSPROF_STALLS=40ms run record --clock wall -o a.cap -- ./loop
    is_rc 0
    is_whole a.cap
    run stalls --each --over 1ms --csv a.cap
    grep -Eq '(function|processor).*busy_for' out && grep -q 'blocking.*reads' out &&
        awk -F, 'NR > 1 && $2 < 40e6 { short = 1 } END { exit short }' out
}
loop_with 'poll(none, n_none, 5)' -O1
stalled || wrong 'has other stalls'
for call in poll ppoll; do
    loop_with "$call(none, n_none, $([ $call = poll ] && echo 5 || echo '&time, NULL'))" \
        -O2 -D_FORTIFY_SOURCE=2
    # Not so with musl and some compilers.
    if readelf -W --dyn-syms loop | grep -q __${call}_chk; then
        stalled || wrong "has other stalls with __${call}_chk"
    fi
done
# Older C libraries have no such function, and older kernels no such call.
loop_with 'epoll_pwait2(epoll, &event, 1, &time, NULL)' -O1 \
    -Werror=implicit-function-declaration 2>err && ./loop && call=epoll_pwait2 || call=
if [ -n "$call" ]; then
    stalled || wrong 'has other stalls with epoll_pwait2'
fi
JSPROF_STALLS=16ms run record --clock wall -o a.cap -- ./host
is_rc 5
is_whole a.cap
run info a.cap
samples=$(sed -n 's/^ *samples *\([0-9]*\).*/\1/p' out)
[ "${samples:-0}" = 0 ] || wrong 'has samples of a program without waits'

# A host that has the library records itself, also where another program executes it.
printf 'let r = 0;\nfn spin(n) { let i = 0; while i < n { i = i + 1; } return i; }\n' >spin.lark
printf 'while r < 60 { spin(1000000); r = r + 1; }\n' >>spin.lark
run record -o b.cap -- sh -c "exec '$B/bin/lark' spin.lark"
is_rc 0
is_whole b.cap
run report b.cap
has 'spin (spin.lark:2)'
[ "$(ls b.cap*)" = b.cap ] || { ls b.cap* >out; wrong 'other files'; }

# What can not be recorded.
if "${CC:-gcc}" -O1 -static -o static host.c -pthread 2>/dev/null; then
    run record -o none.cap -- ./static
    is_rc 126
    says 'record: ./static is statically linked, so nothing can be loaded into it'
fi
if [ "$(id -u)" = 0 ]; then
    cp host others
    chown 12345 others && chmod u+s others
    run record -o none.cap -- ./others
    is_rc 126
    says 'record: ./others runs with the rights of another user, so nothing can be loaded'
fi
head -c 18 host >other
printf '\267' >>other
tail -c +20 host >>other
chmod +x other
run record -o none.cap -- ./other
is_rc 126
says './other is a program for another processor'
[ "$(wc -l <err)" = 1 ] || wrong 'more than one line'
[ ! -e none.cap ] || wrong 'leaves a capture of nothing'
run record --merge -o none.cap -- ./host
is_rc 2
run record --follow 1
is_rc 2
exit $bad
