/* fatal_signals.h - one last call before SIGINT, SIGTERM or SIGHUP ends the process.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_FATAL_SIGNALS_H
#define JSPROF_LUA_FATAL_SIGNALS_H

#include <stdbool.h>

/* Call `last` in the handler of each of these signals that the process neither ignores
 * nor handles. The handler calls it at the first moment in which the interrupted program
 * may call any function (jsprof_callable), calls it again while it returns false, and
 * then lets the signal take its usual effect. It gives up after two seconds, or at a
 * second signal that does not arrive together with the first. Return 0 or a negative
 * errno. */
int jsp_lua_on_fatal_signal(bool (*last)(void));

#endif
