/* sigsafe/timer.c - see timer.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "timer.h"

#include "hidden.h"

#define TIMER_NS_OF_S 1000000000u
/* PERF_EVENT_IOC_PERIOD, whose header not every libc comes with, and others */
#define TIMER_EVENT_PERIOD 0x40082404u
#define TIMER_EVENT_ENABLE 0x2400u
#define TIMER_EVENT_DISABLE 0x2401u

enum {
    TIMER_OFTEN_NS = 150000,  /* a thread switches often if it runs for less between two switches */
    TIMER_SELDOM_NS = 300000, /* ... and seldom, for more */
    TIMER_TURNS = 8,          /* ask each so many samples: it is a system call */
    TIMER_TICK_NS = 1000000,  /* no tick is shorter */
    TIMER_FAULTS = 16, /* so many points are left, and a tick finds no system call: page faults */
    TIMER_MOST = 64,   /* no tick has found so many */
};

/* The interval is long, because the kernel starts it before our handler runs: one as short as the
 * period would be the processor's next timer, and the kernel would program the hardware twice a
 * sample. */
static int timer_set_posix(timer_t timer, uint64_t at_ns)
{
    const struct itimerspec when = {
        .it_value = { (time_t)(at_ns / TIMER_NS_OF_S), (long)(at_ns % TIMER_NS_OF_S) },
        .it_interval = { 0, JSP_HIDDEN_AGAIN_NS },
    };
    return timer_settime(timer, TIMER_ABSTIME, &when, NULL);
}

int jsp_timer_set(const struct jsp_timer *s, uint64_t now_ns, uint64_t at_ns)
{
    if (!s->is_event)
        return timer_set_posix(s->posix, at_ns);
    uint64_t period_ns = at_ns > now_ns ? at_ns - now_ns : 1;
    return (int)syscall(SYS_ioctl, s->fd, TIMER_EVENT_PERIOD, &period_ns);
}

int jsp_timer_ticks(const struct jsp_timer *s)
{
    const long ns = s->is_user ? TIMER_TICK_NS : 0; /* 0: never */
    const struct itimerspec each = { .it_value = { 0, ns }, .it_interval = { 0, ns } };
    return timer_settime(s->posix, 0, &each, NULL);
}

uint64_t jsp_timer_draw(struct jsp_timer *s, struct jsp_tick *tick, uint64_t now_ns,
                        uint64_t load)
{
    uint64_t over = jsp_tick_over(load), within = jsp_tick_random(&tick->random) % tick->period_ns;
    uint64_t by_ns = (1 + over) * tick->period_ns - s->within_ns + within;
    s->n_due = (uint32_t)over + 1;
    s->within_ns = within;
    return now_ns + by_ns;
}

uint32_t jsp_timer_points(struct jsp_timer *s, enum jsp_timer_met met, uint32_t passed)
{
    int64_t all = s->in_kernel + passed, points = all > 0 ? all : 0;
    if (!s->is_user || !s->is_event) {
        points = all > 0 ? all : passed;
        all = points;
    } else if (met == JSP_TIMER_DUE && all < TIMER_MOST) {
        points = s->n_due;
    } else if (met == JSP_TIMER_CODE && all < TIMER_FAULTS) {
        points = 0;
    }
    s->in_kernel = all - points;
    return (uint32_t)points;
}

uint64_t jsp_timer_cpu_ns(struct jsp_timer *s, uint64_t ran_ns, uint64_t points_ns)
{
    uint64_t all = s->left_ns + ran_ns;
    uint64_t own = s->in_kernel > 0 && points_ns < all ? points_ns : all;
    s->left_ns = all - own;
    return own;
}

static void timer_use_event(struct jsp_timer *s, bool is_event)
{
    if (is_event)
        jsp_timer_ticks(s);
    if (syscall(SYS_ioctl, s->fd, is_event ? TIMER_EVENT_ENABLE : TIMER_EVENT_DISABLE, 0) == 0)
        s->is_event = is_event;
}

void jsp_timer_turn(struct jsp_timer *s, uint64_t ran_ns, bool is_observed)
{
    /* ORDER: relaxed. The descriptor may be the host's by now; nothing else depends on it. */
    if (atomic_load_explicit(&s->is_lost, memory_order_relaxed) || !s->has_event ||
        !s->has_posix || (!is_observed && s->n_turns++ % TIMER_TURNS) ||
        syscall(SYS_getrusage, RUSAGE_THREAD, &s->used) != 0)
        return;
    uint64_t naps = (uint64_t)s->used.ru_nvcsw, stops = (uint64_t)s->used.ru_nivcsw;
    uint64_t n = naps + stops - jsp_counted(&s->naps) - jsp_counted(&s->stops);
    uint64_t by_ns = s->ran_ns ? ran_ns - s->ran_ns : UINT64_MAX / TIMER_OFTEN_NS;
    /* ORDER: relaxed, both. The looker takes them as hints. */
    atomic_store_explicit(&s->naps, naps, memory_order_relaxed);
    atomic_store_explicit(&s->stops, stops, memory_order_relaxed); /* ORDER: as above */
    s->ran_ns = ran_ns;
    if (s->is_event ? n * TIMER_OFTEN_NS > by_ns : n * TIMER_SELDOM_NS < by_ns)
        timer_use_event(s, !s->is_event);
}

bool jsp_timer_sent(const struct jsp_timer *s, const siginfo_t *info)
{
    return s->has_event && info->si_code == POLL_IN && info->si_fd == s->fd;
}
