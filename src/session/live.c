/* session/live.c - see live.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "live.h"

#include <errno.h>
#include <unistd.h>

#include "process.h"

/* Protected by the process lock, like `live_next` and `n_inside`. One store adds a
 * session, and one removes it, because a fork may copy any moment. */
struct jsprof *_Atomic jsp_live_first;

static struct jsprof *live_get(struct jsprof *_Atomic *at)
{
    /* ORDER: relaxed. Under the lock. */
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void live_set(struct jsprof *_Atomic *at, struct jsprof *p)
{
    /* ORDER: release, for the copy that a fork on another thread makes: p->live_next is
     * written before. */
    atomic_store_explicit(at, p, memory_order_release);
}

/* Return the place of the pointer to it, or NULL; `p` may be any pointer. */
static struct jsprof *_Atomic *live_slot(const struct jsprof *p)
{
    struct jsprof *_Atomic *at = &jsp_live_first;
    for (struct jsprof *s; (s = live_get(at)) != NULL; at = &s->live_next)
        if (s == p)
            return at;
    return NULL;
}

void jsp_live_add(struct jsprof *p)
{
    jsp_process_lock();
    live_set(&p->live_next, live_get(&jsp_live_first));
    live_set(&jsp_live_first, p);
    jsp_process_unlock();
}

/* Check a session, with the lock held. */
static int live_check(const struct jsprof *p)
{
    if (!live_slot(p))
        return -EINVAL;
    if (p->pid != getpid())
        return -ECHILD;
    return p->closing ? -EINVAL : 0;
}

int jsp_live_enter(struct jsprof *p)
{
    jsp_process_lock();
    int err = live_check(p);
    if (!err)
        p->n_inside++;
    jsp_process_unlock();
    return err;
}

void jsp_live_leave(struct jsprof *p)
{
    jsp_process_lock();
    if (--p->n_inside == 0)
        jsp_process_wake();
    jsp_process_unlock();
}

int jsp_live_end(struct jsprof *p)
{
    jsp_process_lock();
    int err = live_check(p);
    if (!err)
        p->closing = true;
    while (!err && p->n_inside)
        jsp_process_wait();
    jsp_process_unlock();
    return err;
}

void jsp_live_remove(const struct jsprof *p)
{
    jsp_process_lock();
    struct jsprof *_Atomic *at = live_slot(p);
    if (at)
        live_set(at, live_get(&live_get(at)->live_next));
    jsp_process_unlock();
}

void jsp_live_each(void (*each)(struct jsprof *p))
{
    for (struct jsprof *p = live_get(&jsp_live_first); p; p = live_get(&p->live_next))
        each(p);
}
