/* watch.c - see watch.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "watch.h"

#include <signal.h>
#include <stddef.h>

static void (*watch_handler(int signo))(void)
{
    struct sigaction now;
    return sigaction(signo, NULL, &now) == 0 ? (void (*)(void))now.sa_sigaction : NULL;
}

void jsp_lua_watch_begin(struct jsp_lua_watch *w, jsprof *session)
{
    w->handler = watch_handler(SIGURG); /* of events, if there are some */
    w->signo = w->handler ? SIGURG : SIGPROF;
    w->handler = watch_handler(w->signo);
    w->session = session;
}

void jsp_lua_watch_look(struct jsp_lua_watch *w)
{
    if (!w->session)
        return;
    bool is_taken = watch_handler(w->signo) != w->handler;
    if (is_taken == w->is_taken)
        return;
    w->is_taken = is_taken;
    w->was_taken = true;
    jsprof_mark(w->session, 0, "Lua", is_taken ? "signal taken" : "signal given back",
                is_taken ? "another profiler has the signal: no samples from here on"
                         : "samples from here on");
}
