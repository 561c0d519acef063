/* sigsafe/timer.c - see timer.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "timer.h"

#include "hidden.h"

#define TIMER_NS_OF_S 1000000000u
/* PERF_EVENT_IOC_PERIOD, whose header not every libc comes with */
#define TIMER_EVENT_PERIOD 0x40082404u

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

bool jsp_timer_sent(const struct jsp_timer *s, const siginfo_t *info)
{
    return s->is_event && info->si_code == POLL_IN && info->si_fd == s->fd;
}
