/* fib.h - the recursion that the bench of calls runs: bare, with an entry linked by hand,
 * and with our hooks. All are compared with the same bare one.
 *
 * Every variant is called through a pointer, with the host's thread as its first argument,
 * as interpreters carry it: so no compiler makes a constant of it in one variant and not in
 * another. The barrier at the end keeps compilers from making loops of the recursion.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_FIB_H
#define BENCH_FIB_H

#include <jsprof.h>

#include "bench.h"

#define FIB_VARIANT static __attribute__((noinline, aligned(64), unused))
#define FIB_BARRIER(x) __asm__ volatile("" : "+r"(x) : : "memory")

/* An entry as a host writes it that needs no more. */
struct fib_hand {
    struct fib_hand *up;
    const void *function;
};

struct fib_host {
    void *unused;
    struct fib_hand *volatile top;
    const void *function;
};

typedef unsigned long fib_fn(void *arg, unsigned long n); /* a fib_host, or a jsprof_thread */

static const jsprof_function *volatile fib_any;  /* no constant */
static const jsprof_function *fib_function;      /* in memory, as fib_host.function is */

static inline void fib_begin(const jsprof_function *f)
{
    fib_any = f;
    fib_function = fib_any;
}

FIB_VARIANT unsigned long fib_by_hand(void *arg, unsigned long n)
{
    struct fib_host *h = arg;
    struct fib_hand link = { h->top, h->function };
    __atomic_signal_fence(__ATOMIC_RELEASE); /* ORDER: for the own thread's handler */
    h->top = &link;
    unsigned long r = n < 2 ? 1 : fib_by_hand(h, n - 1) + fib_by_hand(h, n - 2);
    FIB_BARRIER(r);
    h->top = link.up;
    return r;
}

FIB_VARIANT unsigned long fib_link(void *arg, unsigned long n)
{
    jsprof_thread *t = arg;
    jsprof_link link;
    jsprof_link_enter(t, &link, fib_function);
    unsigned long r = n < 2 ? 1 : fib_link(t, n - 1) + fib_link(t, n - 2);
    FIB_BARRIER(r);
    jsprof_link_leave(t, &link);
    return r;
}

FIB_VARIANT unsigned long fib_enter(void *arg, unsigned long n)
{
    jsprof_thread *t = arg;
    jsprof_enter(t, fib_function);
    unsigned long r = n < 2 ? 1 : fib_enter(t, n - 1) + fib_enter(t, n - 2);
    FIB_BARRIER(r);
    jsprof_leave(t);
    return r;
}

/* ns per call, of this clock. */
static inline double fib_time(fib_fn *call, void *arg, unsigned long n, clockid_t clock)
{
    fib_fn *volatile any = call;
    double begin = bench_ns(clock);
    volatile unsigned long r = any(arg, n);
    return (bench_ns(clock) - begin) / (double)(2 * r - 1); /* fib(n) leaves, one less above */
}

#endif
