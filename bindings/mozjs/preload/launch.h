/* launch.h - the functions of request.cpp for jsprof-gjs, which is C.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_LAUNCH_H
#define JSPROF_MOZJS_LAUNCH_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Values as the user typed them; NULL: not given. */
struct launch_values {
    const char *output, *hz, *clock, *toggle, *form, *calls, *threads, *alloc, *stalls, *tasks;
};

/* Return whether the options accept these values. If not, print a line that names the
 * wrong one. */
bool launch_check(const struct launch_values *values);

const char *launch_version(void);

#ifdef __cplusplus
}
#endif

#endif
