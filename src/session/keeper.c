/* session/keeper.c - the keeper of a continuous recording, and what wakes it; see session.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct jsp_keeper *jsp_keeper_new(void)
{
    struct jsp_keeper *k = calloc(1, sizeof *k);
    pthread_condattr_t attr;
    if (!k)
        return NULL;
    pthread_mutex_init(&k->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&k->cond, &attr);
    pthread_condattr_destroy(&attr);
    return k;
}

void jsp_keeper_free(struct jsp_keeper *k)
{
    if (!k)
        return;
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->cond);
    free(k);
}

bool jsp_keeper_is_due(const struct jsprof *p)
{
    return p->output.writer.appended >= p->given.keeper->keep.file_bytes ||
           p->write_error == -ESTALE || p->write_error == -EBADF;
}

void jsp_keeper_ring(struct jsp_keeper *k)
{
    pthread_mutex_lock(&k->lock);
    k->rung = true;
    pthread_cond_signal(&k->cond);
    pthread_mutex_unlock(&k->lock);
}

void jsp_keeper_look(struct jsprof *p)
{
    if (p->fold_ns && jsp_keeper_is_due(p))
        jsp_keeper_ring(p->given.keeper);
}
