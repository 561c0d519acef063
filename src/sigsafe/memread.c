/* sigsafe/memread.c - see memread.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memread.h"

enum { MEMREAD_PAGE = 4096 }; /* the smallest there is: a window never crosses one */

void jsp_memread_init(struct jsp_memread *m, uintptr_t low, uintptr_t high, pid_t pid)
{
    *m = (struct jsp_memread){ .low = low, .high = high, .pid = pid };
    jsp_memread_begin(m, 0);
}

void jsp_memread_begin(struct jsp_memread *m, uintptr_t sp)
{
    uintptr_t page = sp & ~(uintptr_t)(MEMREAD_PAGE - 1);
    m->calls = JSP_MEMREAD_CALLS;
    m->window_n = 0;
    m->plain = (uintptr_t)m->window; /* no stack: only what is surely there */
    m->plain_room = 0;
    if (sp < m->low || sp >= m->high || m->high - m->low < 8)
        return;
    /* What is below that page may never have been touched: the main thread's stack
     * is mapped only as far as it grew. */
    m->plain = page > m->low ? page : m->low;
    m->plain_room = m->high - m->plain - 8;
}

static bool memread_copy(struct jsp_memread *m, uintptr_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)at, n };
    if (!m->calls)
        return false;
    m->calls--;
    return process_vm_readv(m->pid, &here, 1, &there, 1, 0) == (ssize_t)n;
}

bool jsp_memread_far(struct jsp_memread *m, uintptr_t at, uint64_t *value)
{
    if (at & 7)
        return memread_copy(m, at, value, sizeof *value);
    if (at - m->window_at >= m->window_n) {
        uintptr_t left = MEMREAD_PAGE - (at & (MEMREAD_PAGE - 1));
        uint32_t n = left < JSP_MEMREAD_WINDOW ? (uint32_t)left : JSP_MEMREAD_WINDOW;
        m->window_n = 0;
        if (!memread_copy(m, at, m->window, n))
            return false;
        m->window_at = at;
        m->window_n = n;
    }
    memcpy(value, m->window + (at - m->window_at), sizeof *value);
    return true;
}

/* By hand: a sanitizer looks into memcpy. */
static JSP_MEMREAD_ANY void memread_plain(uintptr_t at, void *to, size_t n)
{
    const volatile uint8_t *from = (const volatile uint8_t *)at;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = from[i];
}

bool jsp_memread_bytes(struct jsp_memread *m, uintptr_t at, void *to, size_t n)
{
    bool plain = jsp_memread_is_plain(m, at) && n <= m->plain_room + 8 - (at - m->plain);
    if (!plain)
        return memread_copy(m, at, to, n);
    memread_plain(at, to, n);
    return true;
}
