/* public/marks.c - the public functions of marks and counters.
 *
 * SPDX-License-Identifier: MIT
 */
#include <unistd.h>

#include "public.h"

/* Let the drain write what was queued. */
static int public_note(jsprof *p, int err)
{
    if (err >= 0)
        jsp_ask_note(&p->ask);
    return err;
}

uint64_t jsprof_now(void)
{
    return jsp_now_ns(CLOCK_MONOTONIC);
}

int jsprof_mark(jsprof *p, uint64_t begin_ns, const char *group, const char *name,
                const char *message)
{
    struct jsp_marks_mark mark = { begin_ns, 0, group, name, message };
    if (!p || !group || !name)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = p->pid == getpid() ? public_note(p, jsp_marks_mark(&p->marks, &mark)) : -ECHILD;
    public_leave(&host);
    return err;
}

int jsprof_log(jsprof *p, uint16_t severity, const char *domain, const char *message)
{
    if (!p || !message)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = p->pid == getpid()
                  ? public_note(p, jsp_marks_log(&p->marks, severity, domain, message)) : -ECHILD;
    public_leave(&host);
    return err;
}

int jsprof_counter(jsprof *p, const char *group, const char *name, const char *what,
                   enum jsprof_counter_type type)
{
    struct jsp_marks_definition d = { group, name, what, type == JSPROF_COUNTER_REAL };
    if (!p || !group || !name || (unsigned)type > JSPROF_COUNTER_REAL)
        return -EINVAL;
    struct public_host host = public_enter();
    int id = p->pid == getpid() ? public_note(p, jsp_marks_counter(&p->marks, &d)) : -ECHILD;
    public_leave(&host);
    return id;
}

static int public_counter_set(jsprof *p, int counter, int64_t whole, double real)
{
    if (!p)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = p->pid == getpid()
                  ? public_note(p, jsp_marks_set(&p->marks, counter, whole, real)) : -ECHILD;
    public_leave(&host);
    return err;
}

int jsprof_counter_set(jsprof *p, int counter, int64_t value)
{
    return public_counter_set(p, counter, value, (double)value);
}

/* Also convert the value to an integer. A value out of range becomes the nearest limit, and
 * NaN becomes 0. */
int jsprof_counter_set_real(jsprof *p, int counter, double value)
{
    int64_t whole = value >= 9223372036854774784.0 ? INT64_MAX
                    : value <= -9223372036854774784.0 ? INT64_MIN
                    : value == value                  ? (int64_t)value
                                                      : 0;
    return public_counter_set(p, counter, whole, value);
}
