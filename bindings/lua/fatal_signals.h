/* fatal_signals.h - one last call before SIGINT, SIGTERM or SIGHUP ends the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_FATAL_SIGNALS_H
#define JSPROF_LUA_FATAL_SIGNALS_H

#include <stdbool.h>

/* Call `last` in the handler of each of these signals that the process neither ignores nor
 * handles. The handler calls it as soon as it interrupts the program where any function may be
 * called (jsprof_callable), again as long as it returns false, and then lets the signal do what
 * it would have done. It gives up after two seconds, or at a second signal that does not come
 * together with the first. A negative errno. */
int jsp_lua_on_fatal_signal(bool (*last)(void));

#endif
