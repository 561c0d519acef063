/* pool.c - memory for native code, mapped twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pool.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint8_t *pool_map(int fd, uint32_t bytes, int protection)
{
    return mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
}

bool lark_pool_open(struct lark_pool *pool, uint32_t bytes)
{
    *pool = (struct lark_pool){ .bytes = bytes, .write = MAP_FAILED, .run = MAP_FAILED };
    int fd = memfd_create("lark code", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    if (ftruncate(fd, bytes) == 0) {
        pool->write = pool_map(fd, bytes, PROT_READ | PROT_WRITE);
        pool->run = pool_map(fd, bytes, PROT_READ | PROT_EXEC);
    }
    int err = errno;
    close(fd); /* the maps keep it */
    if (pool->write != MAP_FAILED && pool->run != MAP_FAILED)
        return true;
    lark_pool_close(pool);
    errno = err;
    return false;
}

void lark_pool_close(struct lark_pool *pool)
{
    if (pool->write != MAP_FAILED)
        munmap(pool->write, pool->bytes);
    if (pool->run != MAP_FAILED)
        munmap(pool->run, pool->bytes);
}

void lark_pool_write(struct lark_pool *pool, uint32_t at, const uint8_t *code, uint32_t n)
{
    memcpy(pool->write + at, code, n);
    __builtin___clear_cache((char *)pool->write + at, (char *)pool->write + at + n);
    __builtin___clear_cache((char *)pool->run + at, (char *)pool->run + at + n);
}
