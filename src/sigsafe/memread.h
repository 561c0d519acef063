/* sigsafe/memread.h - a reader of memory at untrusted addresses.
 *
 * From the page of the interrupted stack pointer up to the high end of the thread's
 * stack, a read is a plain load: this memory is mapped. Everywhere else (a coroutine's
 * stack, an alternate one, code, garbage) the kernel copies for us, by process_vm_readv
 * on our own process, and fails where a load would fault. It copies a window at a time,
 * so a walk over a foreign stack does not need one call for each word. A walk may make
 * JSP_MEMREAD_CALLS such calls.
 *
 * Where a sandbox or an emulator has no such call, the reader asks the kernel whether the
 * memory can be read, and then loads it plainly. Another thread could unmap it in
 * between; but no program unmaps a stack or code that is running right now. In a process of
 * one thread nothing can be unmapped in between, so the reader always does this there: the
 * question takes a fifth of the time of a copy.
 *
 * The looker reads the stack of another thread, which may end meanwhile. So it loads nothing
 * plainly, and copies the whole part of the stack that a walk usually needs at once.
 *
 *                       SIGPROF handler   any thread, for itself
 *   jsp_memread_init           -                   yes
 *   jsp_memread_foreign        -                   yes
 *   jsp_memread_begin         yes                  yes
 *   jsp_memread_word          yes                  yes
 *   jsp_memread_far           yes                  yes
 *   jsp_memread_bytes         yes                  yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_MEMREAD_H
#define JSP_SIGSAFE_MEMREAD_H

#include "room.h"

enum { JSP_MEMREAD_WINDOW = 512, JSP_MEMREAD_CALLS = 32, JSP_MEMREAD_PAGES = 8 };

struct jsp_memread {
    /* Written by init, and by the owner thread as it changes stacks. */
    uintptr_t low, high; /* the stack that it is on; equal: not known */

    /* Constant after init. */
    pid_t pid;
    const volatile char *single; /* not 0: the process has one thread; NULL: not known */

    bool probes;         /* the kernel refused to copy once: probe instead */
    /* the memory may be unmapped at any time: no plain load after a probe */
    bool may_vanish;
    bool is_foreign; /* the same, for all reads */

    /* A copy of the memory from `copy_at`, made by jsp_memread_foreign; borrowed. */
    const uint8_t *copy;
    uintptr_t copy_at, copy_n;

    /* State of one walk. */
    uintptr_t plain;     /* first address that may be loaded plainly */
    uintptr_t plain_room; /* the last such address is plain + plain_room */
    uint32_t calls;      /* system calls left */
    /* pages that were readable in this walk, in a process of one thread; 0: none */
    uintptr_t pages[JSP_MEMREAD_PAGES];
    uint32_t window_n;
    uintptr_t window_at;
    alignas(8) uint8_t window[JSP_MEMREAD_WINDOW];
};

/* Set the bounds of the thread's stack, both 0 if they are unknown. `single` is NULL then; the
 * caller may set it. */
void jsp_memread_init(struct jsp_memread *m, uintptr_t low, uintptr_t high, pid_t pid);

/* Prepare to read another thread's stack, whose lowest used address is sp. Copy as much of it
 * into `room` as there is, `n` bytes at most. */
void jsp_memread_foreign(struct jsp_memread *m, uintptr_t sp, void *room, size_t n);

/* Begin a walk, or continue it on another stack. sp decides which memory is read
 * plainly. */
void jsp_memread_begin(struct jsp_memread *m, uintptr_t sp);

/* Read one word outside the plain range. Return false if it cannot be read; *value is
 * then untouched. */
bool jsp_memread_far(struct jsp_memread *m, uintptr_t at, uint64_t *value);

/* Return true if a word at this address can be read without a system call. */
static inline bool jsp_memread_is_plain(const struct jsp_memread *m, uintptr_t at)
{
    return at - m->plain <= m->plain_room;
}

/* Stack memory between variables may be read here; AddressSanitizer must not object. */
#define JSP_MEMREAD_ANY __attribute__((no_sanitize_address))

/* Read one word of the stack, plainly or by a system call. Return false if it cannot be read;
 * *value is then untouched. */
static inline JSP_MEMREAD_ANY bool jsp_memread_word(struct jsp_memread *m, uintptr_t at,
                                                    uint64_t *value)
{
    if (__builtin_expect(!jsp_memread_is_plain(m, at), 0))
        return jsp_memread_far(m, at, value);
    memcpy(value, (const void *)at, sizeof *value);
    return true;
}

/* Copy n bytes without the window. Return false if any of them cannot be read. */
bool jsp_memread_bytes(struct jsp_memread *m, uintptr_t at, void *to, size_t n);

#endif
