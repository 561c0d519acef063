/* peek_host.cpp - bindings/mozjs/peek.cpp: which memory can be read, and that the question
 * does not put the thread to sleep. It prints TAP.
 *
 * SPDX-License-Identifier: MIT
 */
#include "peek.h"

#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <sys/resource.h>

static int n_checks, n_failed;

static void check(bool good, const char *what)
{
    n_failed += !good;
    printf("%sok %d - %s\n", good ? "" : "not ", ++n_checks, what);
}

static long sleeps()
{
    rusage use;

    getrusage(RUSAGE_THREAD, &use);
    return use.ru_nvcsw;
}

int main()
{
    constexpr size_t page = 4096;
    constexpr int asked = 200;
    uint8_t copy[16], nothing[16] = {};
    mozjs_peek peek;
    bool all = true;
    auto *at = static_cast<uint8_t *>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    if (at == MAP_FAILED || munmap(at + page, page) != 0)
        return 1;
    at[0] = 0; /* the page exists */
    check(!mozjs_peek_is_there(at + page), "memory that is not mapped can not be read");

    const long before = sleeps();
    for (int i = 0; i < asked; i++)
        all = mozjs_peek_is_there(at + 64) && all;
    check(all, "memory of zeroes can be read");
    check(sleeps() - before < asked / 10, "the question does not sleep");

    memset(at, 0xFF, page);
    check(mozjs_peek_is_there(at + 7), "memory of ones can be read, at any address");

    mozjs_peek_begin(&peek, { at, at + page });
    check(mozjs_peek_bytes(&peek, reinterpret_cast<uintptr_t>(at + page - 16), copy, 16) &&
              memcmp(copy, at, 16) == 0, "the last bytes of a page are copied");
    check(!mozjs_peek_bytes(&peek, reinterpret_cast<uintptr_t>(at + page - 8), copy, 16),
          "no copy reaches into memory that is not mapped");
    memset(at, 0, page);
    mozjs_peek_begin(&peek, {});
    check(mozjs_peek_bytes(&peek, reinterpret_cast<uintptr_t>(at + 250), copy, 16) &&
              memcmp(copy, nothing, 16) == 0, "a copy crosses the edge of a window");
    printf("1..%d\n", n_checks);
    return n_failed != 0;
}
