/* pool.c - memory for native code, written or run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POOL_WRITE = PROT_READ | PROT_WRITE, POOL_RUN = PROT_READ | PROT_EXEC };

/* Try once at the beginning: a system that does not execute written memory must not fail
 * in the middle of a program. */
bool lark_pool_open(struct lark_pool *pool, uint32_t bytes)
{
    *pool = (struct lark_pool){ .bytes = bytes };
    void *block = mmap(NULL, bytes, POOL_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        return false;
    if (mprotect(block, bytes, POOL_RUN) < 0) {
        int err = errno;
        munmap(block, bytes);
        errno = err;
        return false;
    }
    pool->run = block;
    return true;
}

void lark_pool_close(struct lark_pool *pool)
{
    munmap(pool->run, pool->bytes);
}

static int pool_protect(struct lark_pool *pool, uint32_t at, uint32_t n, int protection)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)(pool->run + at) & ~(page - 1);
    return mprotect((void *)first, (uintptr_t)(pool->run + at) + n - first, protection);
}

bool lark_pool_write(struct lark_pool *pool, uint32_t at, const uint8_t *code, uint32_t n)
{
    if (pool_protect(pool, at, n, POOL_WRITE) < 0)
        return false;
    memcpy(pool->run + at, code, n);
    if (pool_protect(pool, at, n, POOL_RUN) < 0) {
        /* Other functions share these pages and may be on the stack. */
        fprintf(stderr, "lark: native code can not be run again: %s\n", strerror(errno));
        exit(1);
    }
    char *begin = (char *)pool->run + at;
    __builtin___clear_cache(begin, begin + n);
    return true;
}
