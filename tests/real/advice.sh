#!/bin/sh
# real/advice.sh - `jsprof report` says in a sentence what to record in another way: a short program
# without a sample, threads that ended too early, a program that waits, far too few samples.
#
# SPDX-License-Identifier: MIT
. "$SRCDIR/tests/cli/lib.sh"

cat >host.c <<'END'
#include <dlfcn.h>
#include <jsprof.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void burn(clockid_t clock, double s)
{
    for (double until = now(clock) + s; now(clock) < until;)
        continue;
}

/* A thread that blocks every signal has nothing but losses. */
static void *blind(void *p)
{
    jsprof_thread *t;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (jsprof_thread_attach(p, "blind", &t) < 0)
        exit(1);
    burn(CLOCK_THREAD_CPUTIME_ID, seconds);
    jsprof_thread_detach(t);
    return NULL;
}

/* Long names, twenty deep. */
static void deep(jsprof_thread *t, char odd)
{
    static char names[20][300];
    for (int i = 0; i < 20; i++) {
        memset(names[i], odd ? odd : 'a' + i, 200);
        sprintf(names[i] + 200, " (/srv/a/long/folder/of/a/long/name/file%d.js:%d:1)", i, i + 1);
        jsprof_push(t, names[i], NULL, (uint32_t)i + 1);
        burn(CLOCK_PROCESS_CPUTIME_ID, seconds / 20);
    }
    for (int i = 0; i < 20; i++)
        jsprof_pop(t);
}

typedef int encode(uint32_t preset, int check, const void *, const uint8_t *in, size_t n_in,
                   uint8_t *out, size_t *at, size_t n_out);

static void pack(void) /* by a stripped library of this machine */
{
    static uint8_t in[1 << 20], out[1 << 21];
    encode *with;
    void *library = dlopen("liblzma.so.5", RTLD_NOW);
    void *found = library ? dlsym(library, "lzma_easy_buffer_encode") : NULL;
    if (!found)
        exit(77);
    *(void **)&with = found;
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (uint8_t)(i * i >> 7 ^ i >> 5);
    for (double until = now(CLOCK_PROCESS_CPUTIME_ID) + seconds;
         now(CLOCK_PROCESS_CPUTIME_ID) < until;) {
        size_t at = 0;
        with(9, 0, NULL, in, sizeof in, out, &at, sizeof out);
    }
}

static void work(jsprof *p, const char *what)
{
    pthread_t other;
    bool is_nap = strcmp(what, "nap") == 0; /* of 40 times what it works */
    if (strcmp(what, "blind") == 0 && pthread_create(&other, NULL, blind, p))
        exit(1);
    if (is_nap || strcmp(what, "burn") == 0)
        burn(CLOCK_PROCESS_CPUTIME_ID, is_nap ? seconds / 40 : seconds);
    if (strcmp(what, "blind") == 0) {
        burn(CLOCK_THREAD_CPUTIME_ID, seconds);
        pthread_join(other, NULL);
    }
    pid_t child = strcmp(what, "fork") == 0 ? fork() : 1;
    if (child == 0) {
        burn(CLOCK_PROCESS_CPUTIME_ID, seconds);
        _exit(0);
    }
    while (child > 1 && wait(NULL) < 0)
        continue;
    struct timespec rest = { .tv_nsec = 10000000 };
    for (int i = 0; (is_nap || strcmp(what, "sleep") == 0) && i < (int)(seconds * 100); i++)
        nanosleep(&rest, NULL);
}

/* FILE HZ CLOCK SECONDS sleep|burn|nap|fork|blind [collect], or deep [CHARACTER], or pack */
int main(int argc, char **argv)
{
    jsprof_options o = { .size = sizeof o, .path = argv[1], .hz = (uint32_t)atoi(argv[2]) };
    o.flags = o.hz == 10000 ? JSPROF_TIMER : 0; /* the looker does not need the kernel's tick */
    jsprof *p;
    jsprof_thread *t;
    jsprof_function *collector;
    seconds = atof(argv[4]);
    o.clock = strcmp(argv[3], "wall") == 0 ? JSPROF_CLOCK_WALL : JSPROF_CLOCK_CPU;
    if (jsprof_open(&p, &o) < 0 || jsprof_thread_attach(p, "main", &t) < 0 || jsprof_start(p) < 0 ||
        jsprof_function_new(&collector, "garbage collection", NULL, 0, JSPROF_KIND_GC) < 0)
        return 1;
    if (strcmp(argv[5], "deep") == 0) {
        deep(t, argc > 6 ? *argv[6] : 0);
    } else if (strcmp(argv[5], "pack") == 0) {
        pack();
    } else {
        jsprof_push(t, "work", NULL, 0);
        if (argc > 6)
            jsprof_enter(t, collector);
        work(p, argv[5]);
        if (argc > 6)
            jsprof_leave(t);
        jsprof_pop(t);
    }
    return jsprof_thread_detach(t) < 0 || jsprof_close(p) < 0;
}
END
$CC -std=c11 -D_GNU_SOURCE -I"$SRCDIR/include" -o host host.c "$B/lib/libjsprof.a" -pthread -ldl

says() # REGEX FILE
{
    grep -Eq "$1" "$2" || wrong "does not say: $1"
}

./host forked.cap 1 cpu 0.01 fork
run report forked.cap
is_rc 1
says ': the program forked 1 child, whose work is not recorded: JSPROF_CHILDREN=1' err
run info forked.cap
says '^ *children +1 forked and not recorded; JSPROF_CHILDREN=1' out
./host short.cap 1 cpu 0 burn
run info short.cap
! grep -q children out || wrong 'counts a child that no one forked'
run report short.cap
is_rc 1
says '^jsprof: short.cap: no samples in this capture: its threads used [0-9.]+ [mun]?s of CPU' err
says ' CPU time, 1 Hz asked for: a higher rate or the wall clock would take some$' err
./host short.cap 1 wall 0 burn
run report short.cap
is_rc 1
says ': its threads were recorded for [0-9.]+ [mun]?s, 1 Hz asked for: a higher rate' err

env --block-signal=PROF,URG ./host lost.cap 1000 cpu 0.3 burn
run report lost.cap
is_rc 1
says ': all [0-9]+ timer expirations were lost, most of them as "signal blocked": jsprof info' err

./host waits.cap 100 wall 1 sleep
run report waits.cap
is_rc 0
says '^The threads waited for (9[0-9][.][0-9]|100[.]0)% of the time: --clock cpu shows' out
run report --clock cpu waits.cap
is_rc 0
hasnt 'The threads waited'
run report --time 0ms..500ms waits.cap
hasnt 'The threads waited'
run report --json waits.cap
hasnt 'The threads waited'

./host naps.cap 1000 cpu 2 nap
run report naps.cap
is_rc 0
tr '\n' ' ' <out >sentence
says 'The threads waited for 9[0-9][.][0-9]% of the time, which the CPU clock does not' sentence
says ' see: the wall clock shows where[.]' sentence

# No kernel's tick is that fine.
./host seldom.cap 10000 cpu 0.5 burn
for columns in 40 61 '' 200; do # as wide as a terminal; 80 where there is none
    COLUMNS=$columns run report seldom.cap
    is_rc 0
    sed -n '/^A sample counts/,$p' out >advice
    awk -v most="${columns:-80}" 'length > most { exit 1 }' advice ||
        wrong "is wider than ${columns:-80} columns"
    paste -s -d ' ' advice >sentence
    says '^A sample counts for [0-9]+ expirations, because the kernel measures CPU ' sentence
    says ' CPU time at its own tick; the wall clock is sampled at the full rate[.]$' sentence
done

# Threads that end before the signals of their time come.
run report ended.cap
tr '\n' ' ' <out >sentence
says 'Threads ended before the signals of 75[.]9% of the timer expirations came: the sh' sentence
hasnt 'has no sample of its'
run info ended.cap
has '75.9% of the time went by unseen: threads ended before their signals came, or slept'
run report good.cap
hasnt 'Threads ended'

# What to look at in a report of functions.
./host collects.cap 1000 wall 0.2 burn collect
run report collects.cap
tr '\n' ' ' <out >sentence
says "Garbage collection takes [0-9.]+% of the time: jsprof callers 'garbage collection'" sentence
run report --by kind collects.cap
hasnt 'takes'
run report seldom.cap
hasnt 'Garbage'
run report good.cap
has 'Line 22 of work takes 62.5% of the time: jsprof annotate shows it.'
run report --thread 100 --under leaf good.cap
hasnt 'Line 22'

# A thread that blocks every signal has nothing but losses.
./host blind.cap 1000 wall 0.3 blind
run report blind.cap
tr '\n' ' ' <out >sentence
says 'Thread blind has no sample of its [0-9.]+ m?s: jsprof info shows what took its si' sentence
run report --thread main blind.cap
hasnt 'has no sample'
run report --markdown blind.cap
says '^- Thread `blind` has no sample of its [0-9.]+ m?s: jsprof info' out

# A summary of long names and deep calls stays below 4 KB, also with two more sentences of advice,
# and with names of characters that Markdown needs to escape.
long=$(printf %090d 0).cap
for odd in '' '|' '`'; do
    ./host "$long" 1000 wall 0.5 deep ${odd:+"$odd"}
    run report --markdown --vm "$long"
    [ "$(wc -c <out)" -le 3700 ] || wrong "has $(wc -c <out) bytes"
    [ "$(grep -c '^[|] *[0-9]' out)" -ge 10 ] || wrong 'has few functions'
    [ "$(grep -c '^[0-9]*[.] ' out)" -ge 8 ] || wrong 'has no path'
done
run report --markdown --vm --limit 20 "$long"
[ "$(grep -c '^[|] *[0-9]' out)" -eq 20 ] || wrong 'has not the functions that were asked for'

# Too few samples to trust a difference, and enough.
run diff good.cap merged.cap
tr '\n' ' ' <out >sentence
says '0 of 6 .* of [[]interpreter], would need 4 times as many. Record for longer' sentence
run diff waits.cap collects.cap
hasnt 'too few'
run diff good.cap good.cap
hasnt 'too few'

# A stripped library of this machine: its build id, and the package that has its symbols.
status=0
./host packs.cap 1000 cpu 0.5 pack || status=$?
run report packs.cap
tr '\n' ' ' <out >sentence
if [ "$status" = 77 ] || grep -q ' lzma_mf_\| lz_encode' out; then
    echo 'advice: no stripped liblzma here: names of packages were not tried'
else
    id='debuginfod-find debuginfo [0-9a-f]{40}, or --symbols DIR[)] name them[.]'
    says "C functions without names take [0-9.]+% of the time, most of it in liblzma.so.5" sentence
    says "$id" sentence
    "$jsprof" dump packs.cap >dump
    path=$(sed -n 's|.* \(/[^ ]*/liblzma.so.5[^ ]*\).*|\1|p' dump | head -n 1)
    package=$(dpkg-query -S "*/${path##*/}" 2>/dev/null | sed 's/[:,].*//' | head -n 1) || package=
    [ -z "$package" ] || says "its debug symbols [(]package $package-dbgsym, debuginfod" sentence
    mkdir -p home
    run report --symbols home packs.cap
    is_rc 0
fi

run report good.cap
hasnt 'waited'
hasnt 'counts for'
exit $bad
