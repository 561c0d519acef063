/* read.c - see read.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

#include <sys/uio.h>

void jsp_lua_read_begin(struct jsp_lua_read *r)
{
    r->calls = JSP_LUA_READ_CALLS;
    r->walk++;
}

/* The window that holds `at`; NULL: not readable. */
static const uint8_t *read_window(struct jsp_lua_read *r, uintptr_t at)
{
    uintptr_t begin = at & ~(uintptr_t)(JSP_LUA_WINDOW - 1);
    uint32_t slot = (at >> JSP_LUA_WINDOW_BITS) & (JSP_LUA_WINDOWS - 1);
    struct iovec here = { r->windows[slot].bytes, JSP_LUA_WINDOW };
    struct iovec there = { (void *)begin, JSP_LUA_WINDOW };

    if (r->windows[slot].at == begin && r->windows[slot].walk == r->walk)
        return r->windows[slot].bytes;
    if (!r->calls)
        return NULL;
    r->calls--;
    r->windows[slot].walk = 0;
    if (process_vm_readv(r->pid, &here, 1, &there, 1, 0) != JSP_LUA_WINDOW)
        return NULL;
    r->windows[slot].at = begin;
    r->windows[slot].walk = r->walk;
    return r->windows[slot].bytes;
}

bool jsp_lua_read(struct jsp_lua_read *r, uintptr_t at, void *to, size_t n)
{
    while (n) {
        const uint8_t *window = read_window(r, at);
        size_t skip = at & (JSP_LUA_WINDOW - 1);
        size_t part = JSP_LUA_WINDOW - skip < n ? JSP_LUA_WINDOW - skip : n;
        if (!window)
            return false;
        memcpy(to, window + skip, part);
        to = (char *)to + part;
        at += part;
        n -= part;
    }
    return true;
}
