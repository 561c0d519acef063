/* watch.c - how much CPU time a SIGPROF handler takes: preloaded, it wraps the
 * handler that a program installs and around the timer_settime that it calls. To WATCH_OUT
 * it writes "signals median p99 arming read", in microseconds: of the whole handler, of
 * the kernel's arming of the timer in it (a median), and of the reading of the clock,
 * which has been taken off from the others.
 *
 * SPDX-License-Identifier: MIT
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WATCH_SLOTS = 1 << 16, WATCH_NS = 20 };

struct watch_times {
    uint32_t took[WATCH_SLOTS];
};

static void (*watch_handler)(int, siginfo_t *, void *);
static int (*watch_settime)(timer_t, int, const struct itimerspec *, struct itimerspec *);
static struct watch_times watch_whole, watch_arming, watch_reading;
static uint64_t watch_armed; /* in the handler that is running */
static int watch_inside;

static uint64_t watch_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1000000000u * (uint64_t)t.tv_sec + (uint64_t)t.tv_nsec;
}

static void watch_add(struct watch_times *times, uint64_t ns)
{
    uint64_t slot = ns / WATCH_NS;

    __atomic_fetch_add(&times->took[slot < WATCH_SLOTS ? slot : WATCH_SLOTS - 1], 1,
                       __ATOMIC_RELAXED);
}

/* Two reads more in the handler are taken off where they are made. */
int timer_settime(timer_t timer, int flags, const struct itimerspec *to,
                  struct itimerspec *before)
{
    if (!watch_inside)
        return watch_settime(timer, flags, to, before);
    uint64_t began = watch_now();
    int err = watch_settime(timer, flags, to, before);

    watch_armed = watch_now() - began;
    return err;
}

/* Reads two more than `timer_settime` and this itself make, to know what one costs. */
static void watch_on_signal(int signo, siginfo_t *info, void *context)
{
    uint64_t first = watch_now(), began = watch_now(), read = began - first;

    watch_armed = 0;
    watch_inside = 1;
    watch_handler(signo, info, context);
    watch_inside = 0;
    uint64_t took = watch_now() - began, reads = read * (watch_armed ? 3 : 1);

    watch_add(&watch_reading, read);
    watch_add(&watch_whole, took > reads ? took - reads : 0);
    watch_add(&watch_arming, watch_armed > read ? watch_armed - read : 0);
}

__attribute__((constructor)) static void watch_begin(void)
{
    watch_settime = (int (*)(timer_t, int, const struct itimerspec *, struct itimerspec *))
        dlsym(RTLD_NEXT, "timer_settime");
}

int sigaction(int signo, const struct sigaction *now, struct sigaction *before)
{
    int (*next)(int, const struct sigaction *, struct sigaction *) =
        (int (*)(int, const struct sigaction *, struct sigaction *))dlsym(RTLD_NEXT,
                                                                          "sigaction");
    struct sigaction ours;

    if (signo != SIGPROF || !now || !(now->sa_flags & SA_SIGINFO))
        return next(signo, now, before);
    ours = *now;
    watch_handler = now->sa_sigaction;
    ours.sa_sigaction = watch_on_signal;
    int err = next(signo, &ours, before);
    if (err == 0 && before && (before->sa_flags & SA_SIGINFO) &&
        before->sa_sigaction == watch_on_signal)
        before->sa_sigaction = watch_handler;
    return err;
}

/* The value of which so many in a hundred are not above it. */
static double watch_at(const struct watch_times *times, uint64_t n, uint64_t percent)
{
    uint64_t seen = 0;

    for (int i = 0; i < WATCH_SLOTS; i++) {
        seen += times->took[i];
        if (seen > n * percent / 100)
            return i * (WATCH_NS / 1000.0);
    }
    return 0;
}

__attribute__((destructor)) static void watch_tell(void)
{
    const char *path = getenv("WATCH_OUT");
    FILE *out = path ? fopen(path, "w") : NULL;
    uint64_t n = 0;

    for (int i = 0; i < WATCH_SLOTS; i++)
        n += watch_whole.took[i];
    if (out) {
        fprintf(out, "%llu %.2f %.2f %.2f %.2f\n", (unsigned long long)n,
                watch_at(&watch_whole, n, 50), watch_at(&watch_whole, n, 99),
                watch_at(&watch_arming, n, 50), watch_at(&watch_reading, n, 50));
        fclose(out);
    }
}
