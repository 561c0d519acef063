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
#define TIMER_EVENT_ID 0x80082407u

enum {
    TIMER_OFTEN_NS = 150000,  /* a thread switches often if it runs for less between two switches */
    TIMER_SELDOM_NS = 300000, /* ... and seldom, for more */
    TIMER_TURNS = 8,          /* ask each so many samples: it is a system call */
    TIMER_COST = 16,          /* a handler that takes more of a period was interrupted itself */
    TIMER_TICK_NS = 1000000,  /* no tick is shorter */
    /* So many points of the kernel, and of so much time, are of page faults if a tick finds no
     * system call; ... */
    TIMER_FAULTS = 16, TIMER_FAULTS_NS = 16000000,
    TIMER_MOST = 64, TIMER_MOST_NS = 64000000, /* ... so many go to any signal */
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
    const long ns = s->is_user ? TIMER_TICK_NS : JSP_HIDDEN_AGAIN_NS;
    const struct itimerspec each = { .it_value = { 0, ns }, .it_interval = { 0, ns } };
    return timer_settime(s->posix, 0, &each, NULL);
}

uint64_t jsp_timer_draw(struct jsp_timer *s, struct jsp_tick *tick, uint64_t now_ns,
                        uint64_t load)
{
    uint64_t over = jsp_tick_over(load), within = jsp_tick_random(&tick->random) % tick->period_ns;
    uint64_t by_ns = (1 + over) * tick->period_ns - s->within_ns + within;
    /* the kernel counts from the end of the handler */
    uint64_t cost_ns = tick->cost_ns, most_ns = tick->period_ns / TIMER_COST;
    cost_ns = cost_ns < most_ns ? cost_ns : most_ns;
    s->n_due = (uint32_t)over + 1;
    s->within_ns = within;
    return now_ns + (by_ns > cost_ns ? by_ns - cost_ns : 1);
}

/* Return so many points, or those of so much time if these are more. */
static int64_t timer_most(int64_t points, uint64_t ns, uint64_t period_ns)
{
    return points > (int64_t)(ns / period_ns) ? points : (int64_t)(ns / period_ns);
}

/* The same of jsp_timer_points where the event comes in user code alone. */
static int64_t timer_user_points(const struct jsp_timer *s, enum jsp_timer_met met, int64_t all,
                                 uint64_t period_ns)
{
    int64_t due = s->n_due, faults = timer_most(TIMER_FAULTS, TIMER_FAULTS_NS, period_ns);
    if (met == JSP_TIMER_DUE)
        return all < due + timer_most(TIMER_MOST, TIMER_MOST_NS, period_ns) ? due : all;
    if (met == JSP_TIMER_CALL)
        return all >= due ? all : 0;
    if (met == JSP_TIMER_CODE)
        return all >= due && all >= faults ? all : 0;
    return all > 0 ? all : 0;
}

uint32_t jsp_timer_points(struct jsp_timer *s, enum jsp_timer_met met, uint32_t passed,
                          uint64_t period_ns)
{
    int64_t all = s->in_kernel + passed, points = all > 0 ? all : passed;
    if (s->is_user && s->is_event)
        points = timer_user_points(s, met, all, period_ns);
    else
        all = points;
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

static void timer_use_event(struct jsp_timer *s, uint64_t ran_ns, bool is_event)
{
    if (is_event)
        jsp_timer_ticks(s);
    if (syscall(SYS_ioctl, s->fd, is_event ? TIMER_EVENT_ENABLE : TIMER_EVENT_DISABLE, 0) == 0)
        s->is_event = is_event;
    s->ticked_ns = ran_ns;
}

bool jsp_timer_lose(struct jsp_timer *s)
{
    uint64_t id;
    if (syscall(SYS_ioctl, s->fd, TIMER_EVENT_ID, &id) == 0 && id == s->id)
        return false;
    s->is_lost = true;
    s->is_event = false;
    return true;
}

void jsp_timer_turn(struct jsp_timer *s, uint64_t ran_ns, bool is_observed)
{
    if (!s->has_event || !s->has_posix || s->is_lost ||
        (!is_observed && s->n_turns++ % TIMER_TURNS) ||
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
        timer_use_event(s, ran_ns, !s->is_event);
}

bool jsp_timer_sent(const struct jsp_timer *s, const siginfo_t *info)
{
    return s->has_event && info->si_code == POLL_IN && info->si_fd == s->fd;
}
