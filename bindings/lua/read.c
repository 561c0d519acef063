/* read.c - see read.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

#include <sys/uio.h>

static uint32_t read_slot(uintptr_t window)
{
    return (uint32_t)(window / JSP_LUA_WINDOW) & (JSP_LUA_WINDOWS - 1);
}

static void read_set(struct jsp_lua_read *r, uintptr_t window, uint32_t walk)
{
    uint32_t slot = read_slot(window);
    r->windows[slot].at = window;
    r->windows[slot].walk = walk;
}

/* What the walk before used, as far as it is still readable. */
static void read_again(struct jsp_lua_read *r)
{
    struct iovec here[JSP_LUA_AGAIN], there[JSP_LUA_AGAIN];
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_again; i++) {
        uint32_t slot = read_slot(r->again[i]);
        if (r->windows[slot].walk == r->walk)
            continue; /* another one is to be there */
        read_set(r, r->again[i], r->walk);
        here[n] = (struct iovec){ r->bytes[slot], JSP_LUA_WINDOW };
        there[n++] = (struct iovec){ (void *)r->again[i], JSP_LUA_WINDOW };
    }
    ssize_t got = n ? process_vm_readv(r->pid, here, n, there, n, 0) : 0;
    for (uint32_t i = got < 0 ? 0 : (uint32_t)got / JSP_LUA_WINDOW; i < n; i++)
        read_set(r, (uintptr_t)there[i].iov_base, 0);
}

void jsp_lua_read_begin(struct jsp_lua_read *r)
{
    r->calls = JSP_LUA_READ_CALLS;
    r->missed = 0;
    if (!++r->walk)
        r->walk = 1; /* 0 is no walk */
    read_again(r);
    r->n_again = 0;
}

/* Reads this window, or its whole page; windows of a page have slots in a row. */
static bool read_miss(struct jsp_lua_read *r, uintptr_t window)
{
    uintptr_t page = window & ~(uintptr_t)(JSP_LUA_PAGE - 1);
    size_t n = page == r->missed ? JSP_LUA_PAGE : JSP_LUA_WINDOW;
    uintptr_t from = window & ~(uintptr_t)(n - 1);
    struct iovec here = { r->bytes[read_slot(from)], n }, there = { (void *)from, n };

    r->missed = page;
    if (!r->calls)
        return false;
    r->calls--;
    bool is_read = process_vm_readv(r->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
    for (uintptr_t at = from; at < from + n; at += JSP_LUA_WINDOW)
        read_set(r, at, is_read ? r->walk : 0);
    return is_read;
}

/* The window that holds `at`; NULL: not readable. */
static const uint8_t *read_window(struct jsp_lua_read *r, uintptr_t at)
{
    uintptr_t window = at & ~(uintptr_t)(JSP_LUA_WINDOW - 1);
    uint32_t slot = read_slot(window);
    bool is_here = r->windows[slot].at == window && r->windows[slot].walk == r->walk;
    if (!is_here && !read_miss(r, window))
        return NULL;
    if (r->n_again < JSP_LUA_AGAIN && !(is_here && r->windows[slot].used == r->walk)) {
        r->windows[slot].used = r->walk;
        r->again[r->n_again++] = window;
    }
    return r->bytes[slot];
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
