/* session/continuous.c - see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "drain.h"

/* Between two attempts to begin a file that cannot be begun. */
static const uint64_t continuous_again_ns = UINT64_C(10000000000);

/* -- Files, with `change` held ------------------------------------------------------- */

/* Record into an open file. */
static int continuous_record(struct jsprof *p, int fd)
{
    struct jsp_keeper *k = p->given.keeper;
    const struct jsp_session_aim aim = { .fd = fd, .hz = k->hz, .clock = k->clock,
                                         .looker = k->looker,
                                         .fold_ns = k->keep.segment_ns,
                                         .most_bytes = k->keep.file_bytes + JSP_WRITER_BYTES };
    int err = jsp_session_aim(p, &aim);
    p->keeping = !err;
    if (!err) {
        pthread_mutex_lock(&p->lock);
        p->gone.expirations += k->stranded;
        p->output.tallies.gone.lost += k->stranded;
        pthread_mutex_unlock(&p->lock);
        k->stranded = 0;
    }
    k->began_ns = jsp_now_ns(CLOCK_MONOTONIC);
    return err;
}

int jsp_continuous_end(struct jsprof *p)
{
    if (!p->keeping)
        return 0;
    p->keeping = false;
    return jsp_session_aim_end(p);
}

/* Go on in the next file. If it cannot be opened, the present one stays, unless it is gone. It
 * takes one more buffer than it should have; what comes then is lost, and counted. */
static int continuous_next(struct jsprof *p)
{
    struct jsp_keeper *k = p->given.keeper;
    int fd = jsp_keep_next(&k->keep);
    if (fd < 0)
        return fd;
    jsp_continuous_end(p);
    int err = continuous_record(p, fd);
    jsp_keep_clean(&k->keep);
    return err;
}

/* Do what is due, with `change` held. Return the time of the next look. */
static uint64_t continuous_work(struct jsprof *p)
{
    struct jsp_keeper *k = p->given.keeper;
    uint64_t now = jsp_now_ns(CLOCK_MONOTONIC);
    if (!p->wanted || (p->recording && !p->keeping))
        return UINT64_MAX;
    pthread_mutex_lock(&p->lock);
    bool is_due = !p->keeping || now - k->began_ns >= k->keep.file_ns ||
                  jsp_keeper_is_due(p);
    pthread_mutex_unlock(&p->lock);
    int err = is_due ? continuous_next(p) : 0;
    return err ? now + continuous_again_ns : k->began_ns + k->keep.file_ns;
}

/* -- The thread ---------------------------------------------------------------------- */

static void *continuous_main(void *session)
{
    struct jsprof *p = session;
    struct jsp_keeper *k = p->given.keeper;
    pthread_mutex_lock(&k->lock);
    while (!k->quit) {
        k->rung = false;
        pthread_mutex_unlock(&k->lock);
        pthread_mutex_lock(&p->change);
        uint64_t next = continuous_work(p);
        pthread_mutex_unlock(&p->change);
        const struct timespec until = { (time_t)(next / 1000000000u), (long)(next % 1000000000u) };
        pthread_mutex_lock(&k->lock);
        int err = 0;
        while (!k->quit && !k->rung && err != ETIMEDOUT)
            err = next == UINT64_MAX ? pthread_cond_wait(&k->cond, &k->lock)
                                     : pthread_cond_timedwait(&k->cond, &k->lock, &until);
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

int jsp_continuous_begin(struct jsprof *p)
{
    struct jsp_keeper *k = p->given.keeper;
    int err = continuous_next(p);
    if (!err && !k->runs)
        err = jsp_spawn(&k->thread,
                        &(struct jsp_spawn){ continuous_main, p, "jsprof-keeper", NULL });
    k->runs = k->runs || !err;
    if (err && !k->runs)
        jsp_continuous_end(p);
    if (k->runs)
        jsp_keeper_ring(k);
    return err;
}

int jsp_continuous_quit(struct jsprof *p)
{
    struct jsp_keeper *k = p->given.keeper;
    if (!k || !k->runs)
        return 0;
    pthread_mutex_lock(&k->lock);
    k->quit = true;
    pthread_cond_signal(&k->cond);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->thread, NULL);
    k->runs = false;
    return jsp_continuous_end(p);
}
