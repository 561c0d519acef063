/* api_linked.c - see api.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "api.h"

#include <string.h>

uintptr_t jsp_lua_api(const char *name)
{
    const struct {
        const char *name;
        uintptr_t address;
    } known[] = {
        { JSP_LUA_API_GC, (uintptr_t)lua_gc },
        { JSP_LUA_API_GETTOP, (uintptr_t)lua_gettop },
        { JSP_LUA_API_NEWUSERDATA, (uintptr_t)compat_newuserdata },
        { JSP_LUA_API_PCALL, (uintptr_t)compat_pcall },
        { JSP_LUA_API_RESUME, (uintptr_t)lua_resume },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].address;
    return 0;
}
