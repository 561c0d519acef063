/* farewell.h - one last call before SIGINT, SIGTERM or SIGHUP ends the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_FAREWELL_H
#define JSPROF_LUA_FAREWELL_H

/* `last` runs on a thread of its own, then the signal does what it would have done.
 * Signals that are ignored or have a handler stay as they are. A negative errno. */
int jsp_lua_farewell(void (*last)(void));

#endif
