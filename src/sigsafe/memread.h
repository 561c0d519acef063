/* sigsafe/memread.h - reading memory at an address that nobody vouches for.
 *
 * Between the page of the interrupted stack pointer and the high end of the
 * thread's stack a load is a plain one: the thread has that memory. Everywhere else
 * (a coroutine's stack, an alternate one, code, garbage) the kernel copies for us,
 * by process_vm_readv on ourselves, and says no where a load would fault. It copies
 * a window at a time, so that a walk over a foreign stack is not a call a word, and
 * a walk may ask it JSP_MEMREAD_CALLS times.
 *
 * Where a sandbox or an emulator has no such call, the kernel is asked whether the
 * memory can be read, and a plain load follows. Between the two another thread could
 * unmap it; what a stack or code that runs right now lies in, nobody unmaps.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_memread_init           -                   yes
 *   jsp_memread_begin         yes                  yes
 *   jsp_memread_word          yes                  yes
 *   jsp_memread_bytes         yes                  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_MEMREAD_H
#define JSP_SIGSAFE_MEMREAD_H

#include "room.h"

enum { JSP_MEMREAD_WINDOW = 512, JSP_MEMREAD_CALLS = 32 };

struct jsp_memread {
    /* Constant after init. */
    uintptr_t low, high; /* the thread's stack; equal: not known */
    pid_t pid;

    bool probes;         /* the kernel would not copy: it said so once */
    bool may_vanish;     /* what is read now may be unmapped: no plain load after a probe */

    /* Of one walk. */
    uintptr_t plain;     /* first address for a plain load */
    uintptr_t plain_room; /* its last one is plain + plain_room */
    uint32_t calls;      /* system calls left */
    uint32_t window_n;
    uintptr_t window_at;
    alignas(8) uint8_t window[JSP_MEMREAD_WINDOW];
};

/* Give the bounds of the thread's stack, both 0 where they are not known. */
void jsp_memread_init(struct jsp_memread *m, uintptr_t low, uintptr_t high, pid_t pid);

/* A walk begins, or goes on on another stack: sp says which may be read plainly. */
void jsp_memread_begin(struct jsp_memread *m, uintptr_t sp);

/* False: it can not be read; *value is untouched. */
bool jsp_memread_far(struct jsp_memread *m, uintptr_t at, uint64_t *value);

static inline bool jsp_memread_is_plain(const struct jsp_memread *m, uintptr_t at)
{
    return at - m->plain <= m->plain_room;
}

/* What lies between the variables of a stack is no error of ours to read. */
#define JSP_MEMREAD_ANY __attribute__((no_sanitize_address))

static inline JSP_MEMREAD_ANY bool jsp_memread_word(struct jsp_memread *m, uintptr_t at,
                                                    uint64_t *value)
{
    if (__builtin_expect(!jsp_memread_is_plain(m, at), 0))
        return jsp_memread_far(m, at, value);
    memcpy(value, (const void *)at, sizeof *value);
    return true;
}

/* n bytes, not through the window. False: not all of them can be read. */
bool jsp_memread_bytes(struct jsp_memread *m, uintptr_t at, void *to, size_t n);

#endif
