/* read.h - reads of a Lua state from a signal handler, where any pointer may be stale.
 *
 * In a process of one thread, loads are plain (direct.h), and the kernel is asked once a
 * walk for each page. In others, every read goes through the kernel (process_vm_readv on
 * this process), which returns an error where a plain load would fault. Such a call costs
 * its entry and the search for the pages; the size of the copy hardly matters. So at its
 * beginning a walk copies, in one call, the parts of pages that the previous walk used.
 * It reads the rest in small windows, one by one, and once two windows of a page were
 * missed, the whole page. Windows are small because the program must load again what a
 * walk pushes out of the cache.
 *
 * Copies, and results made from them, are valid during one walk. Between two walks the
 * collector may free an object, and another that looks the same may take its place.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_READ_H
#define JSPROF_LUA_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#include "direct.h"

enum {
    JSP_LUA_WINDOW = 512,
    JSP_LUA_PAGE = 4096,      /* the smallest that exists: readable whole or not at all */
    JSP_LUA_PAGES = 64,       /* power of two */
    JSP_LUA_AGAIN = 32,       /* windows that the next walk reads first, at most */
    JSP_LUA_KEPT = 16,        /* power of two */
    JSP_LUA_KEPT_WORDS = 16,
    JSP_LUA_FACTS = 128,      /* power of two */
    JSP_LUA_READ_CALLS = 1024, /* during one walk */
};

/* A page that was read. Windows are bits, the lowest address first. A page that is read
 * by plain loads has none. */
struct jsp_lua_page {
    uintptr_t at;
    uint32_t walk;   /* the last walk that read it */
    uint32_t used;   /* the last walk that used it; 0: none */
    uint8_t here;    /* windows that `walk` read */
    uint8_t windows; /* windows that the walk `used` used */
};

/* A fact about an instruction of the prototype at `of`, valid for one walk. */
struct jsp_lua_fact {
    uintptr_t of;
    uint32_t walk;
    uint32_t index; /* of the instruction, with the kind of the fact */
    uint32_t value; /* 0: nothing is known here */
};

struct jsp_lua_read {
    pid_t pid;
    struct jsp_lua_direct direct;
    bool is_direct; /* whether this walk reads by plain loads */
    uint32_t calls; /* calls that this walk may still make */
    uint32_t walk;  /* number of this walk; results of others are stale */
    uintptr_t missed; /* the last page that lacked a window */
    struct jsp_lua_page pages[JSP_LUA_PAGES];
    uint8_t bytes[JSP_LUA_PAGES][JSP_LUA_PAGE];
    /* Results about objects that one walk meets again and again; see jsp_lua_kept. */
    struct {
        uintptr_t at;
        uint32_t walk;
        uint64_t words[JSP_LUA_KEPT_WORDS];
    } kept[JSP_LUA_KEPT];
    /* Results about instructions. */
    struct jsp_lua_fact facts[JSP_LUA_FACTS];
};

/* Call it before the first walk in this process; all other bytes are 0. */
void jsp_lua_read_init(struct jsp_lua_read *r);

/* Begin a walk. */
void jsp_lua_read_begin(struct jsp_lua_read *r);

/* Copy n bytes. Return false if they can not be read, or if the walk has read too much;
 * `to` is then undefined. */
bool jsp_lua_read(struct jsp_lua_read *r, uintptr_t at, void *to, size_t n);

/* Return a place for results about the object at `at`; *is_known means that this walk has
 * filled it. A caller that stores a wrong result must remove it. */
static inline void *jsp_lua_kept(struct jsp_lua_read *r, uintptr_t at, bool *is_known)
{
    uint32_t slot = (uint32_t)(at >> 4 ^ at >> 10) & (JSP_LUA_KEPT - 1);
    *is_known = r->kept[slot].at == at && r->kept[slot].walk == r->walk;
    r->kept[slot].at = at;
    r->kept[slot].walk = r->walk;
    return r->kept[slot].words;
}

static inline void jsp_lua_kept_not(struct jsp_lua_read *r, uintptr_t at)
{
    uint32_t slot = (uint32_t)(at >> 4 ^ at >> 10) & (JSP_LUA_KEPT - 1);
    r->kept[slot].at = 0;
}

/* Read a field of a copied object. */
static inline uintptr_t jsp_lua_pointer(const void *object, size_t offset)
{
    uintptr_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline uint32_t jsp_lua_u32(const void *object, size_t offset)
{
    uint32_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline uint16_t jsp_lua_u16(const void *object, size_t offset)
{
    uint16_t value;
    memcpy(&value, (const char *)object + offset, sizeof value);
    return value;
}

static inline uint8_t jsp_lua_u8(const void *object, size_t offset)
{
    return ((const uint8_t *)object)[offset];
}

#endif
