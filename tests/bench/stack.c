/* stack.c - how much stack a signal takes: the kernel's part, and the handler's.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel's part is measured with a signal. For ours an alternate signal stack is painted,
 * a program of 60 C frames and as many linked ones is sampled on it 10,000 times a second by
 * the wall clock, in its own code and in libc's, and the lowest byte that changed is looked for.
 * On smaller stacks samples are lost: the same for the two ways to do that.
 */
#include <jsprof.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "session/signals.h"
#include "sigsafe/left.h"

enum { STACK_LARGE = 1 << 16, STACK_DEPTH = 60, STACK_PAINT = 0xA5, STACK_MS = 100,
       STACK_ALIGN = 64 };

static volatile uint32_t stack_sink;

static int stack_compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Leaves of several kinds: our own code, libc's, a callback out of libc, system calls. */
static void stack_leaf(void)
{
    int numbers[200];
    char text[64];
    for (int i = 0; i < 200; i++)
        numbers[i] = i * 7919 % 200;
    qsort(numbers, 200, sizeof *numbers, stack_compare);
    free(malloc((size_t)snprintf(text, sizeof text, "%d of %f", numbers[7], 0.5)));
    stack_sink = stack_sink + (uint32_t)getppid();
}

static __attribute__((noinline)) void stack_deep(jsprof_thread *t, jsprof_function *f, int depth)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, f);
    if (depth > 1) {
        stack_deep(t, f, depth - 1);
    } else {
        double until = bench_ns(CLOCK_MONOTONIC) + STACK_MS * 1e6;
        while (bench_ns(CLOCK_MONOTONIC) < until)
            stack_leaf();
    }
    jsprof_link_leave(t, &link);
}

static void stack_sample(bool is_lost)
{
    jsprof *p;
    jsprof_thread *t;
    jsprof_function *f;
    jsprof_stats stats = { .size = sizeof stats };
    jsprof_options o = { .size = sizeof o, .hz = 10000, .clock = JSPROF_CLOCK_WALL,
                         .path = "/dev/null", .flags = JSPROF_TIMER };
    bench_need(jsprof_function_new(&f, "deep", NULL, 0, JSPROF_KIND_VM) == 0 &&
               jsprof_open(&p, &o) == 0 && jsprof_thread_attach(p, "bench", &t) == 0 &&
               jsprof_start(p) == 0, "starting a session");
    stack_deep(t, f, STACK_DEPTH);
    bench_need(jsprof_stop(p) == 0 && jsprof_stats_get(p, &stats) == 0, "stopping it");
    bench_need(is_lost ? stats.lost_stack > 0 && !stats.kept : stats.kept > 0 && !stats.lost_stack,
               is_lost ? "losing samples" : "taking samples");
    jsprof_close(p);
    jsprof_thread_detach(t);
    jsprof_function_free(f);
}

/* What was used of an alternate stack of this size, below the kernel's frame. */
static double stack_used(size_t bytes, size_t frame, bool is_lost)
{
    static stack_t none = { .ss_flags = SS_DISABLE };
    unsigned char *at = mmap(NULL, STACK_LARGE, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bench_need(at != MAP_FAILED, "mmap");
    stack_t alternate = { .ss_sp = at + STACK_LARGE - bytes, .ss_size = bytes };
    memset(at, STACK_PAINT, STACK_LARGE);
    bench_need(sigaltstack(&alternate, NULL) == 0, "sigaltstack");
    stack_sample(is_lost);
    bench_need(sigaltstack(&none, NULL) == 0, "sigaltstack");
    size_t low = 0;
    while (low < STACK_LARGE && at[low] == STACK_PAINT)
        low++;
    munmap(at, STACK_LARGE);
    return (double)(STACK_LARGE - low) - (double)frame;
}

static void stack_row(const char *name, size_t most, size_t bytes, bool is_lost)
{
    static struct bench_series used;
    size_t frame = jsp_sigframe_measure();
    char limit[32], peer[80];
    used.n = 0;
    for (int i = bench_rounds(11); i > 0; i--)
        bench_add(&used, stack_used(frame + STACK_ALIGN + bytes, frame, is_lost));
    snprintf(limit, sizeof limit, "<= %zu bytes", most);
    snprintf(peer, sizeof peer, "alternate stack of %zu bytes", frame + STACK_ALIGN + bytes);
    bench_print(&(struct bench_row){ name, limit, (double)most, " bytes", peer }, &used);
}

static void stack_kernel(void)
{
    static struct bench_series frame;
    char peer[80];
    for (int i = bench_rounds(11); i > 0; i--)
        bench_add(&frame, (double)jsp_sigframe_measure());
    bench_need(bench_median(&frame) > 0, "measuring the kernel's frame");
    snprintf(peer, sizeof peer, "AT_MINSIGSTKSZ is %lu", getauxval(51));
    bench_print(&(struct bench_row){ "stack: the kernel's frame of a signal", .unit = " bytes",
                                     .peer = peer }, &frame);
}

int main(void)
{
    bench_pin();
    stack_kernel();
    stack_row("stack: a sample, 60 native and 60 linked", JSP_STACK_NEED, JSP_STACK_NEED, false);
    stack_row("stack: a sample that is lost", JSP_STACK_COUNT, JSP_STACK_NEED / 2, true);
    stack_row("stack: one on less than a kilobyte", JSP_STACK_ENTRY, JSP_STACK_ENTRY, true);
    return 0;
}
