/* sigsafe/memread.c - see memread.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "memread.h"

enum {
    MEMREAD_PAGE = 4096, /* the smallest page size; a window never crosses a page */
    MEMREAD_WAIT_PRIVATE = 0 | 128, /* FUTEX_WAIT, for threads of this process only */
    /* a rare value; the wait ends at once even if memory holds it */
    MEMREAD_UNLIKELY = 0x5EED1E55,
};

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
    if (m->single)
        memset(m->pages, 0, sizeof m->pages);
    /* no known stack: only our own window is certainly mapped */
    m->plain = (uintptr_t)m->window;
    m->plain_room = 0;
    if (sp < m->low || m->high < 8 || sp > m->high - 8)
        return;
    /* Lower pages may never have been touched: the main thread's stack is mapped only as
     * far as it has grown. */
    m->plain = page > m->low ? page : m->low;
    m->plain_room = m->high - m->plain - 8;
}

/* Copy by hand, because a sanitizer checks the arguments of a call of memcpy. */
static JSP_MEMREAD_ANY void memread_plain(uintptr_t at, void *to, size_t n)
{
    uint8_t *out = to;
    for (; n >= sizeof(uint64_t); n -= sizeof(uint64_t), at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const void *)at, sizeof word);
        memcpy(out, &word, sizeof word);
        out += sizeof word;
    }
    for (; n; n--)
        *out++ = *(const volatile uint8_t *)at++;
}

static bool memread_is_single(const struct jsp_memread *m)
{
    return m->single && *m->single;
}

/* Return true if the four bytes here can be read. Every sandbox allows FUTEX_WAIT, which
 * reads them first; with a timeout of 0 it does not wait. */
static bool memread_is_there(uintptr_t at)
{
    static const struct timespec no_time = { 0, 0 };
    return syscall(SYS_futex, at & ~(uintptr_t)3, MEMREAD_WAIT_PRIVATE, MEMREAD_UNLIKELY,
                   &no_time, NULL, 0) < 0 && (errno == EAGAIN || errno == ETIMEDOUT);
}

/* Ask for the page that contains `at`, unless this walk knows it. */
static bool memread_ask(struct jsp_memread *m, uintptr_t at)
{
    uintptr_t page = at & ~(uintptr_t)(MEMREAD_PAGE - 1);
    uintptr_t *known = &m->pages[page / MEMREAD_PAGE % JSP_MEMREAD_PAGES];
    bool is_single = memread_is_single(m);
    if (is_single && page && *known == page)
        return true;
    if (!m->calls)
        return false;
    m->calls--;
    if (!memread_is_there(at))
        return false;
    if (is_single)
        *known = page;
    return true;
}

/* Probe page by page, then copy; n is small. */
static bool memread_probed(struct jsp_memread *m, uintptr_t at, void *to, size_t n)
{
    uintptr_t last = at + n - 1;
    if (last < at || m->is_foreign || (m->may_vanish && !memread_is_single(m)))
        return false;
    for (uintptr_t page = at; page <= last && page >= at;
         page = (page & ~(uintptr_t)(MEMREAD_PAGE - 1)) + MEMREAD_PAGE)
        if (!memread_ask(m, page))
            return false;
    memread_plain(at, to, n);
    return true;
}

static bool memread_copy(struct jsp_memread *m, uintptr_t at, void *to, size_t n)
{
    struct iovec here = { to, n }, there = { (void *)at, n };
    if (m->probes || memread_is_single(m))
        return memread_probed(m, at, to, n);
    if (!m->calls)
        return false;
    m->calls--;
    ssize_t got = process_vm_readv(m->pid, &here, 1, &there, 1, 0);
    /* ESRCH: the process m->pid is gone, and we are another one */
    if (got >= 0 || errno == EFAULT || errno == ESRCH)
        return got == (ssize_t)n;
    m->probes = true;
    return memread_probed(m, at, to, n);
}

void jsp_memread_foreign(struct jsp_memread *m, uintptr_t sp, void *room, size_t n)
{
    struct iovec here = { room, n }, there = { (void *)sp, n };
    m->is_foreign = true;
    m->low = m->high = 0;
    m->copy = room;
    m->copy_at = sp;
    m->copy_n = 0;
    if (m->probes)
        return;
    ssize_t got = process_vm_readv(m->pid, &here, 1, &there, 1, 0);
    if (got > 0)
        m->copy_n = (uintptr_t)got;
    else if (errno != EFAULT && errno != ESRCH)
        m->probes = true;
}

static bool memread_is_copied(const struct jsp_memread *m, uintptr_t at, size_t n)
{
    uintptr_t from = at - m->copy_at;
    return from < m->copy_n && n <= m->copy_n - from;
}

bool jsp_memread_far(struct jsp_memread *m, uintptr_t at, uint64_t *value)
{
    if (memread_is_copied(m, at, sizeof *value)) {
        memcpy(value, m->copy + (at - m->copy_at), sizeof *value);
        return true;
    }
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

bool jsp_memread_bytes(struct jsp_memread *m, uintptr_t at, void *to, size_t n)
{
    if (memread_is_copied(m, at, n)) {
        memcpy(to, m->copy + (at - m->copy_at), n);
        return true;
    }
    bool plain = jsp_memread_is_plain(m, at) && n <= m->plain_room + 8 - (at - m->plain);
    if (!plain)
        return memread_copy(m, at, to, n);
    memread_plain(at, to, n);
    return true;
}
