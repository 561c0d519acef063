/* launch.h - what jsprof-gjs, which is C, asks of request.cpp.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_LAUNCH_H
#define JSPROF_MOZJS_LAUNCH_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As typed; NULL: not given. */
struct launch_values {
    const char *output, *hz, *clock, *toggle, *form, *calls;
};

/* Are these values that the options take? Else one line says which is not. */
bool launch_check(const struct launch_values *values);

const char *launch_version(void);

#ifdef __cplusplus
}
#endif

#endif
