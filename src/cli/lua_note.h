/* cli/lua_note.h - what to do about a recording of Lua in which Lua is rare.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_LUA_NOTE_H
#define JSP_CLI_LUA_NOTE_H

#include "open.h"

/* Print the share of Lua where the Lua module made the recording and Lua is in a small part of
 * it, and the usual reasons. Otherwise print nothing. */
void cli_lua_note(struct cli_capture *c);

#endif
