/* peek.cpp - see peek.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "peek.h"

#include <cerrno>
#include <cstring>
#include <ctime>

#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

constexpr uintptr_t PEEK_PAGE = 4096; /* the smallest page size; no window crosses a page */
constexpr unsigned PEEK_RARE = 0xA7C35B1D; /* hardly any memory has it */

bool peek_probed(uintptr_t at, void *to, size_t n)
{
    const uintptr_t last = at + n - 1;

    if (last < at)
        return false;
    for (uintptr_t page = at; page >= at && page <= last;
         page = (page & ~(PEEK_PAGE - 1)) + PEEK_PAGE)
        if (!mozjs_peek_is_there(reinterpret_cast<const void *>(page)))
            return false;
    memcpy(to, reinterpret_cast<const void *>(at), n);
    return true;
}

bool peek_copy(const mozjs_peek *p, uintptr_t at, void *to, size_t n)
{
    iovec here = { to, n }, there = { reinterpret_cast<void *>(at), n };
    const ssize_t got = process_vm_readv(p->pid, &here, 1, &there, 1, 0);

    if (got < 0 && errno != EFAULT)
        return peek_probed(at, to, n);
    return got == static_cast<ssize_t>(n);
}

size_t peek_slot(uintptr_t window)
{
    return window / MOZJS_PEEK_WINDOW % MOZJS_PEEK_WINDOWS;
}

} // namespace

/* Every sandbox allows FUTEX_WAIT, which reads four bytes first. It returns at once if they
 * differ from its value; if not, it sleeps for the timer's slack, of 50 us. */
bool mozjs_peek_is_there(const void *at)
{
    static const timespec no_time = { 0, 0 };

    return syscall(SYS_futex, reinterpret_cast<uintptr_t>(at) & ~uintptr_t{ 3 },
                   FUTEX_WAIT_PRIVATE, PEEK_RARE, &no_time, nullptr, 0) < 0 &&
           (errno == EAGAIN || errno == ETIMEDOUT);
}

void mozjs_peek_begin(mozjs_peek *p, std::initializer_list<const void *> wanted)
{
    iovec here[MOZJS_PEEK_WINDOWS], there[MOZJS_PEEK_WINDOWS];
    size_t slots[MOZJS_PEEK_WINDOWS], n = 0;

    p->pid = getpid(); /* a session can continue in the child of a fork */
    for (uintptr_t &at : p->at)
        at = 1;
    for (const void *pointer : wanted) {
        const uintptr_t at = reinterpret_cast<uintptr_t>(pointer) & ~(MOZJS_PEEK_WINDOW - 1);
        const size_t slot = peek_slot(at);

        if (p->at[slot] != 1)
            continue;
        p->at[slot] = at;
        here[n] = { p->bytes[slot], MOZJS_PEEK_WINDOW };
        there[n] = { reinterpret_cast<void *>(at), MOZJS_PEEK_WINDOW };
        slots[n++] = slot;
    }
    const ssize_t got = n > 0 ? process_vm_readv(p->pid, here, n, there, n, 0) : 0;
    for (size_t i = got > 0 ? static_cast<size_t>(got) / MOZJS_PEEK_WINDOW : 0; i < n; i++)
        p->at[slots[i]] = 1;
}

bool mozjs_peek_bytes(mozjs_peek *p, uintptr_t at, void *to, size_t n)
{
    const uintptr_t window = at & ~(MOZJS_PEEK_WINDOW - 1), in = at - window;
    const size_t slot = peek_slot(window);

    if (in + n > MOZJS_PEEK_WINDOW)
        return peek_copy(p, at, to, n);
    if (p->at[slot] != window) {
        p->at[slot] = 1;
        if (!peek_copy(p, window, p->bytes[slot], MOZJS_PEEK_WINDOW))
            return false;
        p->at[slot] = window;
    }
    memcpy(to, p->bytes[slot] + in, n);
    return true;
}
