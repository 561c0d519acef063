/* own_stack.h - the bounds of the calling thread's C stack.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_OWN_STACK_H
#define JSPROF_LUA_OWN_STACK_H

#include <stdint.h>

/* Equal: not known. */
struct jsp_lua_own_stack {
    uintptr_t low, high;
};

struct jsp_lua_own_stack jsp_lua_own_stack(void);

#endif
