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

/* Are these values that the options take? NULL: not given. Else one line says which is
 * not. */
bool launch_check(const char *hz, const char *clock, const char *toggle);

const char *launch_version(void);

#ifdef __cplusplus
}
#endif

#endif
