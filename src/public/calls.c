/* public/calls.c - the public functions that turn call counts on and read them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>

#include "public.h"

int jsprof_calls_set(jsprof *p, uint32_t modes)
{
    if (!p || modes & ~(uint32_t)JSPROF_CALLS_ALL)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_calls(p, modes);
    public_leave(&host);
    return err;
}

int jsprof_calls_allow(jsprof *p, uint32_t modes)
{
    if (!p || modes & ~(uint32_t)JSPROF_CALLS_ALL)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_calls_allow(p, modes);
    public_leave(&host);
    return err;
}

int jsprof_calls_snapshot(jsprof *p, jsprof_calls *out)
{
    if (!p || !out || out->size != sizeof *out)
        return -EINVAL;
    struct public_host host = public_enter();
    int err = jsp_session_calls_snapshot(p, out);
    public_leave(&host);
    return err;
}

void jsprof_calls_free(jsprof_calls *calls)
{
    if (!calls)
        return;
    free(calls->rows);
    free(calls->edges);
    *calls = (jsprof_calls){ .size = calls->size };
}
