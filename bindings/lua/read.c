/* read.c - see read.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read.h"

#include <sys/uio.h>
#include <unistd.h>

enum { READ_WINDOWS = JSP_LUA_PAGE / JSP_LUA_WINDOW };

_Static_assert(READ_WINDOWS == 8, "a page's windows are the bits of a byte");

static uint32_t read_slot(uintptr_t page)
{
    return (uint32_t)(page / JSP_LUA_PAGE) & (JSP_LUA_PAGES - 1);
}

/* Return the bits from the lowest to the highest set bit of `windows`, which is not 0. */
static uint8_t read_between(uint8_t windows)
{
    unsigned low = (unsigned)__builtin_ctz(windows);
    unsigned high = 31u - (unsigned)__builtin_clz(windows);
    return (uint8_t)((2u << high) - (1u << low));
}

/* Describe the part of this page from the first to the last of these windows. */
static void read_range(struct jsp_lua_read *r, uint32_t slot, uint8_t windows,
                       struct iovec *here, struct iovec *there)
{
    size_t skip = (size_t)__builtin_ctz(windows) * JSP_LUA_WINDOW;
    size_t n = (size_t)__builtin_popcount(read_between(windows)) * JSP_LUA_WINDOW;
    *here = (struct iovec){ r->bytes[slot] + skip, n };
    *there = (struct iovec){ (void *)(r->pages[slot].at + skip), n };
}

static void read_is_here(struct jsp_lua_page *page, uint32_t walk, uint8_t windows)
{
    page->here = (uint8_t)(page->walk == walk ? page->here | windows : windows);
    page->walk = walk;
}

/* Read what the previous walk used, as far as it is still readable. */
static void read_again(struct jsp_lua_read *r)
{
    struct iovec here[JSP_LUA_AGAIN], there[JSP_LUA_AGAIN];
    uint8_t slots[JSP_LUA_AGAIN];
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < JSP_LUA_PAGES && n < JSP_LUA_AGAIN; slot++) {
        const struct jsp_lua_page *page = &r->pages[slot];
        if (!page->used || page->used + 1 != r->walk)
            continue;
        read_range(r, slot, page->windows, &here[n], &there[n]);
        slots[n++] = (uint8_t)slot;
    }
    ssize_t got = n ? process_vm_readv(r->pid, here, n, there, n, 0) : 0;
    for (uint32_t i = 0; i < n && got >= (ssize_t)here[i].iov_len; i++) {
        struct jsp_lua_page *page = &r->pages[slots[i]];
        read_is_here(page, r->walk, read_between(page->windows));
        got -= (ssize_t)here[i].iov_len;
    }
}

void jsp_lua_read_init(struct jsp_lua_read *r)
{
    jsp_lua_direct_init(&r->direct);
}

void jsp_lua_read_begin(struct jsp_lua_read *r)
{
    r->calls = JSP_LUA_READ_CALLS;
    r->missed = 0;
    if (!++r->walk) { /* 0 marks no walk, so start again with empty pages */
        memset(r->pages, 0, sizeof r->pages);
        r->walk = 1;
    }
    r->is_direct = jsp_lua_direct_may(&r->direct);
    if (r->is_direct)
        return;
    r->pid = getpid(); /* a session may continue in the child of a fork */
    read_again(r);
}

/* Read this window, or the whole page if another window of it was missed before. */
static bool read_miss(struct jsp_lua_read *r, uint32_t slot, uintptr_t at, uint8_t window)
{
    struct jsp_lua_page *page = &r->pages[slot];
    struct iovec here, there;
    if (page->at != at)
        *page = (struct jsp_lua_page){ .at = at };
    if (r->missed == at)
        window = UINT8_MAX;
    r->missed = at;
    if (!r->calls)
        return false;
    r->calls--;
    read_range(r, slot, window, &here, &there);
    if (process_vm_readv(r->pid, &here, 1, &there, 1, 0) != (ssize_t)here.iov_len)
        return false;
    read_is_here(page, r->walk, window);
    return true;
}

/* Return the window that contains `at`, or NULL if it can not be read. */
static const uint8_t *read_window(struct jsp_lua_read *r, uintptr_t at)
{
    uintptr_t in_page = at & (JSP_LUA_PAGE - 1);
    uint8_t window = (uint8_t)(1u << in_page / JSP_LUA_WINDOW);
    uint32_t slot = read_slot(at);
    struct jsp_lua_page *page = &r->pages[slot];
    if ((page->at != at - in_page || page->walk != r->walk || !(page->here & window)) &&
        !read_miss(r, slot, at - in_page, window))
        return NULL;
    if (page->used != r->walk)
        page->windows = 0;
    page->used = r->walk;
    page->windows |= window;
    return r->bytes[slot] + (in_page & ~(uintptr_t)(JSP_LUA_WINDOW - 1));
}

/* Ask for a page for which this walk has not asked yet. */
static bool read_ask(struct jsp_lua_read *r, uintptr_t at)
{
    struct jsp_lua_page *page = &r->pages[read_slot(at)];
    if (page->at == at && page->walk == r->walk)
        return true;
    if (!r->calls)
        return false;
    r->calls--;
    if (!jsp_lua_direct_is_there(at))
        return false;
    *page = (struct jsp_lua_page){ .at = at, .walk = r->walk };
    return true;
}

static bool read_direct(struct jsp_lua_read *r, uintptr_t at, void *to, size_t n)
{
    uintptr_t last = at + n - 1, page = at & ~(uintptr_t)(JSP_LUA_PAGE - 1);
    if (last < at)
        return n == 0;
    for (; page <= last; page += JSP_LUA_PAGE)
        if (!page || !read_ask(r, page)) /* page 0 has no object */
            return false;
    jsp_lua_direct_copy(at, to, n);
    return true;
}

bool jsp_lua_read(struct jsp_lua_read *r, uintptr_t at, void *to, size_t n)
{
    if (r->is_direct)
        return read_direct(r, at, to, n);
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
