/* farewell.h - one last call before SIGINT, SIGTERM or SIGHUP ends the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_FAREWELL_H
#define JSPROF_LUA_FAREWELL_H

#include <stdbool.h>

/* `last` is called in the signal's handler, as soon as it finds the program where any
 * function may be called (jsprof_callable), and again while it answers false; then the
 * signal does what it would have done. After two seconds, or a second signal that
 * is not sent with the first one, that at once. Signals that are ignored or have a handler
 * stay as they are. A negative errno. */
int jsp_lua_farewell(bool (*last)(void));

#endif
