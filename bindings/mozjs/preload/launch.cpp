/* launch.cpp - the functions of request.cpp for jsprof-gjs, which is C.
 *
 * SPDX-License-Identifier: MIT
 */
#include "launch.h"

#include <cstdio>
#include <cstring>

#include "../request.h"

bool launch_check(const launch_values *values)
{
    profile_options o = {};

    o.output = const_cast<char *>(values->output);
    o.hz = const_cast<char *>(values->hz);
    o.clock = const_cast<char *>(values->clock);
    o.toggle = const_cast<char *>(values->toggle);
    o.form = const_cast<char *>(values->form);
    o.threads = const_cast<char *>(values->threads);
    o.alloc = const_cast<char *>(values->alloc);
    o.tasks = const_cast<char *>(values->tasks);
    o.stalls = const_cast<char *>(values->stalls);
    if (values->calls && strcmp(values->calls, "on") != 0) {
        fprintf(stderr, "jsprof-gjs: --profile-calls=%s: not on; jsprof calls prints the "
                "table of a capture\n", values->calls);
        return false;
    }
    return request_check(&o, "jsprof-gjs");
}

const char *launch_version(void)
{
    return JSPROF_VERSION_STRING;
}
