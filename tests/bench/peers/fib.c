/* fib.c - what a compiler's own call hooks cost. Built twice by tests/bench/run: with
 * -pg, and with -finstrument-functions and the hooks of hooks.c.
 *
 * SPDX-License-Identifier: MIT
 *
 *     fib NAME     prints one row of the bench's table
 */
#include <unistd.h>

#include "../bench.h"

enum { FIB_N = 26 };

#define FIB_BARE __attribute__((noinline, aligned(64), no_instrument_function))
#define FIB_BARRIER(x) __asm__ volatile("" : "+r"(x) : : "memory")

static FIB_BARE unsigned long fib_bare(unsigned long n)
{
    unsigned long r = n < 2 ? 1 : fib_bare(n - 1) + fib_bare(n - 2);
    FIB_BARRIER(r);
    return r;
}

static __attribute__((noinline, aligned(64))) unsigned long fib_hooked(unsigned long n)
{
    unsigned long r = n < 2 ? 1 : fib_hooked(n - 1) + fib_hooked(n - 2);
    FIB_BARRIER(r);
    return r;
}

static double fib_time(unsigned long (*fib)(unsigned long))
{
    double begin = bench_ns(CLOCK_MONOTONIC);
    volatile unsigned long r = fib(FIB_N);
    return (bench_ns(CLOCK_MONOTONIC) - begin) / (double)(2 * r - 1);
}

int main(int argc, char **argv)
{
    static struct bench_series pairs, bare, hooked;
    char peer[120];

    if (argc != 2)
        return 2;
    bench_pin();
    for (int i = bench_rounds(51); i > 0; i--) {
        double a = fib_time(fib_bare), b = fib_time(fib_hooked);
        bench_add(&bare, a);
        bench_add(&hooked, b);
        bench_add(&pairs, b / a);
    }
    snprintf(peer, sizeof peer, "bare %.2f ns a call, this %.2f ns", bench_median(&bare),
             bench_median(&hooked));
    bench_print(&(struct bench_row){ argv[1], NULL, 0, "x bare", peer }, &pairs);
    _exit(0); /* without -pg's gmon.out */
}
