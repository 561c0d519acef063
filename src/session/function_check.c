/* session/function_check.c - see function.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "function.h"

#include <stdio.h>
#include <stdlib.h>

#include "session.h"
#include "sigsafe/memread.h"

enum { CHECK_LINKS = 1 << 20 };

static bool check_links(const jsprof_thread *t, const struct jsprof_function *f,
                        struct jsp_memread *mem)
{
    uintptr_t at = (uintptr_t)t->top;
    jsprof_link link;
    for (int i = 0; at && i < CHECK_LINKS; i++) {
        if (!jsp_memread_bytes(mem, at, &link, sizeof link))
            return false;
        if (link.function == f)
            return true;
        jsp_memread_begin(mem, 0); /* allow as many reads again */
        at = (uintptr_t)link.up;
    }
    return false;
}

static bool check_frames(const jsprof_thread *t, const struct jsprof_function *f)
{
    uint32_t n = t->depth < t->capacity ? t->depth : t->capacity;
    for (uint32_t i = 0; i < n; i++)
        if (t->frames[i].function == f)
            return true;
    return false;
}

static void check_thread(const struct jsp_thread *t, const struct jsprof_function *f)
{
    struct jsp_memread mem;
    jsp_memread_init(&mem, 0, 0, t->pid);
    jsp_memread_begin(&mem, 0);
    const jsprof_thread *own = &t->sampled.own;
    if (!t->owned || (!check_frames(own, f) && !check_links(own, f, &mem)))
        return;
    fprintf(stderr, "jsprof: function '%s' is freed while on the stack of thread '%s'\n",
            f->text, t->name);
    abort();
}

void jsp_function_check(const struct jsprof_function *f)
{
    for (struct jsp_sampled *s = jsp_sampled_first(); s; s = s->next) {
        struct jsprof *p = ((struct jsp_thread *)(void *)s)->session;
        if (!p || p->pid != getpid())
            continue;
        pthread_mutex_lock(&p->lock);
        for (const struct jsp_thread *t = p->threads; t; t = t->next)
            check_thread(t, f);
        pthread_mutex_unlock(&p->lock);
    }
}
