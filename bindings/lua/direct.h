/* direct.h - plain reads of memory that no other thread can unmap meanwhile.
 *
 * In a process of one thread, in a handler that no signal interrupts, memory that the
 * kernel can read now stays readable until the handler ends. So the binding asks the
 * kernel once a page, by a call that copies eight bytes and then fails, which costs far
 * less than process_vm_readv. Plain loads follow. glibc reports since 2.32 whether there
 * is one thread. Elsewhere, if the kernel's answers are unexpected, or under valgrind,
 * which reports such calls, the binding reads nothing this way. Threads that another
 * glibc made, for example one in a namespace of dlmopen, are unknown to this glibc: they
 * are noticed if they exist when this begins, but not if they start later. A file must
 * not be truncated at the moment in which a stale pointer points into its mapping.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_LUA_DIRECT_H
#define JSPROF_LUA_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jsp_lua_direct {
    const volatile char *alone; /* NULL: not known; not 0: there is one thread */
};

/* Not callable in a handler. */
void jsp_lua_direct_init(struct jsp_lua_direct *d);

/* Return whether memory may be read this way now. */
static inline bool jsp_lua_direct_may(const struct jsp_lua_direct *d)
{
    return d->alone && *d->alone;
}

/* Return whether the page that contains `at`, a multiple of 8, can be read. */
bool jsp_lua_direct_is_there(uintptr_t at);

/* Copy n readable bytes. Sanitizers do not check these loads. */
void jsp_lua_direct_copy(uintptr_t at, void *to, size_t n);

#endif
