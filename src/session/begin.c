/* session/begin.c - who records a session, and when: its host, its keeper, or somebody else. See
 * session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <errno.h>
#include <unistd.h>

#include "live.h"

int jsp_session_start(struct jsprof *p)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->change);
    p->wanted = !p->given.describe;
    if (p->given.keeper && !p->recording)
        err = jsp_continuous_begin(p);
    else if (p->given.describe)
        err = -EINVAL;
    else if (!p->given.dormant)
        err = jsp_session_run(p);
    pthread_mutex_unlock(&p->change);
    jsp_live_leave(p);
    return err;
}

int jsp_session_stop(struct jsprof *p)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->change);
    p->wanted = false;
    err = p->keeping ? jsp_continuous_end(p) : jsp_session_halt(p);
    pthread_mutex_unlock(&p->change);
    jsp_live_leave(p);
    return err;
}

/* The caller holds `change`. A continuous recording pauses. */
static int begin_record(struct jsprof *p, const struct jsp_session_aim *aim)
{
    int err = !p->given.dormant ? -EBUSY : !p->wanted ? -ENOTCONN : 0;
    if (!err && p->recording && !p->keeping)
        err = -EBUSY;
    if (!err && (aim->tasks || aim->stall_ns) && !jsp_tasks_any(&p->tasks))
        err = -ENODATA;
    if (!err && aim->alloc && !p->setup.alloc)
        err = -EOPNOTSUPP;
    if (err) {
        close(aim->fd);
        return err;
    }
    if (p->keeping)
        jsp_continuous_end(p);
    err = jsp_session_aim(p, aim);
    if (err && p->given.keeper)
        jsp_continuous_begin(p);
    return err;
}

int jsp_session_record(struct jsprof *p, const struct jsp_session_aim *aim)
{
    int err = jsp_live_enter(p);
    if (err) {
        close(aim->fd);
        return err;
    }
    pthread_mutex_lock(&p->change);
    err = begin_record(p, aim);
    pthread_mutex_unlock(&p->change);
    jsp_live_leave(p);
    return err;
}

int jsp_session_record_end(struct jsprof *p, jsprof_stats *stats)
{
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->change);
    if (p->recording && !p->keeping) {
        jsp_session_halt(p);
        jsp_session_stats(p, stats);
        err = jsp_session_aim_end(p);
        if (p->given.keeper && p->wanted)
            jsp_continuous_begin(p); /* after an error the keeper tries again */
    } else {
        err = -ENOENT;
    }
    pthread_mutex_unlock(&p->change);
    jsp_live_leave(p);
    return err;
}
