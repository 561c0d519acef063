/* direct.h - reading memory where it lies, as long as nobody else can take it away.
 *
 * A process of one thread, in a handler that no signal interrupts: what the kernel can read
 * now stays there until the handler is over. So it is asked once a page, by a call that
 * copies eight bytes and refuses to do more, which is far less than process_vm_readv does,
 * and plain loads follow. glibc says whether there is one thread, from 2.32 on; elsewhere,
 * where the kernel answers otherwise than it should, and under valgrind, which reports what
 * is asked, nothing is read so. Threads that are made without this glibc, by another one in
 * a namespace of dlmopen's say, are not known to it: they count if they are there when this
 * begins, and not if they come later. And a file that a stale pointer points into must not be
 * cut short in that moment.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_DIRECT_H
#define JSPROF_LUA_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsp_lua_direct {
    const volatile char *alone; /* NULL: not known; else not 0 while there is one thread */
};

/* Not in a handler. */
void jsp_lua_direct_init(struct jsp_lua_direct *d);

/* May memory be read so, now? */
static inline bool jsp_lua_direct_may(const struct jsp_lua_direct *d)
{
    return d->alone && *d->alone;
}

/* Can the page that holds `at`, a multiple of 8, be read? */
bool jsp_lua_direct_is_there(uintptr_t at);

/* n bytes that are there; of what a sanitizer would find wrong with them nothing is told. */
void jsp_lua_direct_copy(uintptr_t at, void *to, size_t n);

#endif
