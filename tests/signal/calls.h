/* calls.h - what the tests of exact calls share: snapshots, rows by name, work of a known
 * length.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_CALLS_H
#define JSP_TEST_CALLS_H

#include "signal/host.h"

/* What is counted now, until the next call of this. */
static inline jsprof_calls calls_now(jsprof *prof)
{
    static jsprof_calls calls;
    jsprof_calls_free(&calls);
    calls = (jsprof_calls){ .size = sizeof calls };
    CHECK_EQ(jsprof_calls_snapshot(prof, &calls), 0);
    return calls;
}

/* Of the function with this name, all 0 where it has no row. */
static inline jsprof_calls_row calls_row(const jsprof_calls *calls, const char *name)
{
    for (size_t i = 0; i < calls->n_rows; i++)
        if (calls->rows[i].name_len == strlen(name) &&
            memcmp(calls->rows[i].name, name, strlen(name)) == 0)
            return calls->rows[i];
    return (jsprof_calls_row){ .name = "" };
}

static inline jsprof_calls_row calls_of(jsprof *prof, const char *name)
{
    jsprof_calls calls = calls_now(prof);
    return calls_row(&calls, name);
}

/* It lives as long as the program. */
static inline jsprof_function *calls_function(const char *name)
{
    static jsprof_function *made[1024];
    static int n;
    jsprof_function *f = NULL;
    CHECK_EQ(jsprof_function_new(&f, name, "calls.c", 1, JSPROF_KIND_VM), 0);
    return made[n++] = f;
}

/* Open, attach, count. */
static inline bool calls_begin(struct host *h, jsprof_thread **me, uint32_t modes)
{
    return host_open(h, 1000, JSPROF_CLOCK_CPU) &&
           CHECK_EQ(jsprof_thread_attach(h->prof, "main", me), 0) &&
           CHECK_EQ(jsprof_calls_set(h->prof, modes), 0);
}

static inline void calls_end(struct host *h, jsprof_thread *me)
{
    CHECK_EQ(jsprof_thread_detach(me), 0);
    CHECK_EQ(jsprof_close(h->prof), 0);
    close(h->fd);
}

/* Let this much time pass. */
static inline void calls_wait_ms(uint64_t ms)
{
    uint64_t until = host_ns(CLOCK_MONOTONIC) + ms * 1000000;
    while (host_ns(CLOCK_MONOTONIC) < until)
        continue;
}

#endif
