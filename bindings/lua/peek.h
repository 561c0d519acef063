/* peek.h - one read of memory that may be unmapped, outside of signals.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_PEEK_H
#define JSPROF_LUA_PEEK_H

#include "read.h"

/* Return false if it can not be read. Any thread may call it. */
bool jsp_lua_peek(uintptr_t at, void *to, size_t n);

#endif
