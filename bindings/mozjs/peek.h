/* peek.h - copies of memory at addresses that may be wrong.
 *
 * SPDX-License-Identifier: MIT
 *
 * The kernel copies (process_vm_readv on our own process) and refuses where a load would
 * fault. A call takes a microsecond, whatever it copies, so it copies windows around the
 * addresses. Where a sandbox forbids that call, the kernel is asked whether the memory can be
 * read, and a plain load follows.
 *
 * Any thread may call, also in a signal handler, with a peek of its own. Copies are as old as
 * the call that made them. The calls change errno.
 */
#ifndef JSPROF_MOZJS_PEEK_H
#define JSPROF_MOZJS_PEEK_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

constexpr size_t MOZJS_PEEK_WINDOW = 256; /* powers of two */
constexpr size_t MOZJS_PEEK_WINDOWS = 4;

struct mozjs_peek {
    int pid;
    uintptr_t at[MOZJS_PEEK_WINDOWS]; /* of each window; 1: there is none */
    uint8_t bytes[MOZJS_PEEK_WINDOWS][MOZJS_PEEK_WINDOW];
};

/* Read the windows of these addresses in one call. Those that can not be read, and those that
 * have no room beside an earlier one, are tried again when they are needed. */
void mozjs_peek_begin(mozjs_peek *p, std::initializer_list<const void *> wanted);

/* Copy n bytes. Return false if any of them can not be read; *to is then undefined. */
bool mozjs_peek_bytes(mozjs_peek *p, uintptr_t at, void *to, size_t n);

/* Return true if this address can be read now. This takes a third of the time of a copy, for
 * memory that no thread frees in this moment. */
bool mozjs_peek_is_there(const void *at);

template <class T> bool mozjs_peek_at(mozjs_peek *p, const void *at, T *to)
{
    return mozjs_peek_bytes(p, reinterpret_cast<uintptr_t>(at), to, sizeof *to);
}

#endif
