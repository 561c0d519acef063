/* session/asleep.c - see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "process.h"
#include "session.h"

int jsp_session_set_asleep(struct jsp_thread *t, jsprof_walk_asleep_fn walk, void *host)
{
    int err = jsp_session_owns(t);
    if (err)
        return err;
    jsp_process_lock(); /* keeps close away during the access */
    struct jsprof *p = t->session;
    if (p)
        pthread_mutex_lock(&p->looker.lock); /* it may be walking */
    t->sampled.vm.walk_asleep = walk;
    t->sampled.vm.asleep_host = host;
    if (p)
        pthread_mutex_unlock(&p->looker.lock);
    jsp_process_unlock();
    return 0;
}
