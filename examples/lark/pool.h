/* pool.h - memory for native code, reused when code is discarded.
 *
 * One block of fixed size. A page of it is either writable or executable, never both.
 * While code is written, its pages can not be executed, so only the interpreter's one
 * thread may do that. jit.c decides which function gets which room.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_POOL_H
#define LARK_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct lark_pool {
    uint8_t *run;   /* owned */
    uint32_t bytes;
    uint32_t next;  /* offset at which the search for room begins */
};

/* Return false, and errno, if the system gives no such memory. */
bool lark_pool_open(struct lark_pool *pool, uint32_t bytes);
void lark_pool_close(struct lark_pool *pool);

/* Put code at an offset, ready to run. Return false if the system does not permit it. */
bool lark_pool_write(struct lark_pool *pool, uint32_t at, const uint8_t *code,
                     uint32_t n);

#endif
