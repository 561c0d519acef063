/* launch.cpp - what jsprof-gjs, which is C, asks of request.cpp.
 *
 * SPDX-License-Identifier: MIT
 */
#include "launch.h"

#include "../request.h"

bool launch_check(const char *hz, const char *clock, const char *toggle)
{
    profile_options o = {};

    o.hz = const_cast<char *>(hz);
    o.clock = const_cast<char *>(clock);
    o.toggle = const_cast<char *>(toggle);
    return request_check(&o, "jsprof-gjs");
}

const char *launch_version(void)
{
    return JSPROF_VERSION_STRING;
}
