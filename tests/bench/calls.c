/* calls.c - what a call of the host costs with our enter and leave around it.
 *
 * SPDX-License-Identifier: MIT
 *
 * The same recursive function is called about 400,000 times a round, in one variant
 * after the other: bare, ours without a profiler (t == NULL), with an entry linked
 * by hand, and with each of our forms. A pair is two variants of one round.
 */
#include "fib.h"

enum { CALLS_N = 26, CALLS_DEPTH = 64 };

FIB_VARIANT unsigned long calls_bare(void *h, unsigned long n)
{
    unsigned long r = n < 2 ? 1 : calls_bare(h, n - 1) + calls_bare(h, n - 2);
    FIB_BARRIER(r);
    return r;
}

/* Ours with one test: see JSPROF_BODY in the header. */
FIB_VARIANT unsigned long calls_once(void *arg, unsigned long n);

static JSPROF_BODY unsigned long calls_once_body(jsprof_thread *t, unsigned long n)
{
    unsigned long r = n < 2 ? 1 : calls_once(t, n - 1) + calls_once(t, n - 2);
    FIB_BARRIER(r);
    return r;
}

FIB_VARIANT JSPROF_ASIDE __attribute__((nonnull(1))) unsigned long
calls_once_hooked(jsprof_thread *t, unsigned long n)
{
    jsprof_link link;
    jsprof_link_enter(t, &link, fib_function);
    unsigned long r = calls_once_body(t, n);
    jsprof_link_leave(t, &link);
    return r;
}

FIB_VARIANT unsigned long calls_once(void *arg, unsigned long n)
{
    jsprof_thread *t = arg;
    return JSPROF_OFF(t) ? calls_once_body(t, n) : calls_once_hooked(t, n);
}

FIB_VARIANT unsigned long calls_push(void *arg, unsigned long n)
{
    jsprof_thread *t = arg;
    jsprof_push(t, "fib", "calls.c", 7);
    unsigned long r = n < 2 ? 1 : calls_push(t, n - 1) + calls_push(t, n - 2);
    FIB_BARRIER(r);
    jsprof_pop(t);
    return r;
}

enum calls_what {
    CALLS_BARE, CALLS_HAND, CALLS_ONCE_OFF, CALLS_LINK_OFF, CALLS_ENTER_OFF, CALLS_PUSH_OFF,
    CALLS_ONCE, CALLS_LINK, CALLS_ENTER, CALLS_PUSH, CALLS_KINDS
};

static fib_fn *const calls_variants[CALLS_KINDS] = {
    [CALLS_BARE] = calls_bare,     [CALLS_HAND] = fib_by_hand,
    [CALLS_ONCE_OFF] = calls_once, [CALLS_ONCE] = calls_once,
    [CALLS_LINK_OFF] = fib_link,   [CALLS_ENTER_OFF] = fib_enter,
    [CALLS_PUSH_OFF] = calls_push, [CALLS_LINK] = fib_link,
    [CALLS_ENTER] = fib_enter,     [CALLS_PUSH] = calls_push,
};

/* ns per call of one variant. */
static double calls_time(enum calls_what what, struct fib_host *h, jsprof_thread *t)
{
    void *arg = what >= CALLS_ONCE ? t : NULL;
    if (what == CALLS_BARE || what == CALLS_HAND)
        arg = h;
    return fib_time(calls_variants[what], arg, CALLS_N, CLOCK_MONOTONIC);
}

static struct bench_series calls_series[CALLS_KINDS], calls_pairs[CALLS_KINDS];
static struct bench_series calls_link_added;

static void calls_measure(struct fib_host *h, jsprof_thread *t)
{
    int rounds = bench_rounds(301);
    for (int i = 0; i < rounds; i++) {
        double ns[CALLS_KINDS];
        for (int k = 0; k < CALLS_KINDS; k++)
            ns[k] = calls_time((enum calls_what)k, h, t);
        for (int k = 0; k < CALLS_KINDS; k++) {
            bench_add(&calls_series[k], ns[k]);
            bench_add(&calls_pairs[k], ns[k] / ns[k < CALLS_ONCE ? CALLS_BARE : CALLS_HAND]);
        }
        if (ns[CALLS_HAND] > ns[CALLS_BARE])
            bench_add(&calls_link_added,
                      (ns[CALLS_LINK] - ns[CALLS_BARE]) / (ns[CALLS_HAND] - ns[CALLS_BARE]));
    }
}

static double calls_ns(enum calls_what what)
{
    return bench_median(&calls_series[what]);
}

static void calls_row(const char *budget, const char *limit, enum calls_what what)
{
    char peer[120];
    bool off = what < CALLS_ONCE;
    snprintf(peer, sizeof peer, "%s %.2f ns a call, this %.2f ns",
             off ? "bare" : "linked by hand", calls_ns(off ? CALLS_BARE : CALLS_HAND),
             calls_ns(what));
    bench_print(&(struct bench_row){ budget, limit, off ? 1.1 : 1.3, "x", peer },
                &calls_pairs[what]);
}

int main(void)
{
    static jsprof_frame frames[CALLS_DEPTH];
    static jsprof_thread thread = { .frames = frames, .capacity = CALLS_DEPTH };
    struct fib_host host = { .function = NULL };

    bench_pin();
    fib_begin(NULL); /* never looked into here */
    for (int k = 0; k < CALLS_KINDS; k++)
        calls_time((enum calls_what)k, &host, &thread); /* warm up */
    calls_measure(&host, &thread);
    calls_row("compiled in, off: one test", "<= 1.1x bare call", CALLS_ONCE_OFF);
    calls_row("  off, two tests: linked", NULL, CALLS_LINK_OFF);
    calls_row("  off, two tests: enter/leave", NULL, CALLS_ENTER_OFF);
    calls_row("  off, two tests: push/pop", NULL, CALLS_PUSH_OFF);
    calls_row("call with link_enter/leave", "<= 1.3x by hand", CALLS_LINK);
    calls_row("  the same, with one test more", NULL, CALLS_ONCE);

    char added[120];
    snprintf(added, sizeof added, "added to a bare call: by hand %.2f ns, linked %.2f ns",
             calls_ns(CALLS_HAND) - calls_ns(CALLS_BARE),
             calls_ns(CALLS_LINK) - calls_ns(CALLS_BARE));
    bench_print(&(struct bench_row){ "what link_enter/leave adds", "<= 1.3x by hand", 1.3, "x",
                                     added }, &calls_link_added);
    calls_row("call with enter/leave (array)", NULL, CALLS_ENTER);
    calls_row("call with push/pop (array)", NULL, CALLS_PUSH);
    return 0;
}
