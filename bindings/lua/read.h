/* read.h - reading a Lua state from a signal handler, where any pointer may be stale.
 *
 * A process of one thread reads things where they lie (direct.h), and asks the kernel once
 * a walk for each page. In others every load goes through the kernel (process_vm_readv on
 * ourselves), which says no where a plain load would fault. What a call of it costs is the
 * call and the pages that it must find, hardly what it copies. So what the walk before
 * needed is copied in one call at the beginning, of each page the part that was used; the
 * rest by small windows one by one, and where two of a page are missed, the page. They are
 * small because what a walk pulls through the cache the program must fetch again.
 *
 * Copies live for one walk, and so does what is made of them: between two, what is collected
 * makes room for what looks the same.
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
    JSP_LUA_PAGE = 4096,      /* the smallest there is: is readable as a whole, or not */
    JSP_LUA_PAGES = 64,       /* power of two */
    JSP_LUA_AGAIN = 32,       /* of them that the next walk begins with, at most */
    JSP_LUA_KEPT = 16,        /* power of two */
    JSP_LUA_KEPT_WORDS = 16,
    JSP_LUA_FACTS = 128,      /* power of two */
    JSP_LUA_READ_CALLS = 1024, /* of one walk */
};

/* Of a page that was read. Windows are bits, the lowest address first; of a page that is
 * read where it lies there are none. */
struct jsp_lua_page {
    uintptr_t at;
    uint32_t walk;   /* that read it last */
    uint32_t used;   /* walk that used it last; 0: none */
    uint8_t here;    /* windows that `walk` read */
    uint8_t windows; /* that `used` used */
};

/* Something about an instruction of the prototype at `of`, good for one walk. */
struct jsp_lua_fact {
    uintptr_t of;
    uint32_t walk;
    uint32_t index; /* of the instruction, and which fact */
    uint32_t value; /* 0: there is none here */
};

struct jsp_lua_read {
    pid_t pid;
    struct jsp_lua_direct direct;
    bool is_direct; /* this walk */
    uint32_t calls; /* left */
    uint32_t walk;  /* number of this walk; what others read is stale */
    uintptr_t missed; /* the last page that had to be read */
    struct jsp_lua_page pages[JSP_LUA_PAGES];
    uint8_t bytes[JSP_LUA_PAGES][JSP_LUA_PAGE];
    /* What was made of objects that a walk meets again and again; see jsp_lua_kept. */
    struct {
        uintptr_t at;
        uint32_t walk;
        uint64_t words[JSP_LUA_KEPT_WORDS];
    } kept[JSP_LUA_KEPT];
    /* The same of instructions. */
    struct jsp_lua_fact facts[JSP_LUA_FACTS];
};

/* Before the first walk, of this process; all else is 0. */
void jsp_lua_read_init(struct jsp_lua_read *r);

/* A walk begins. */
void jsp_lua_read_begin(struct jsp_lua_read *r);

/* False: it can not be read, or the walk has read too much; `to` is undefined. */
bool jsp_lua_read(struct jsp_lua_read *r, uintptr_t at, void *to, size_t n);

/* A place for what is known of the object at `at`; *is_known: from earlier in this walk. Who
 * fills it with what is not so must take it back. */
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

/* Fields of a copied object. */
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
