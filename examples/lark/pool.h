/* pool.h - memory for native code, reused when code is discarded.
 *
 * One block of fixed size, mapped twice: code is written through one address and runs
 * at the other, so nothing is ever writable and executable at once. Room is handed out
 * in a circle; whoever lives in it is asked to leave.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_POOL_H
#define LARK_POOL_H

#include <stdbool.h>
#include <stdint.h>

struct lark_pool {
    uint8_t *write;
    uint8_t *run;
    uint32_t bytes;
    uint32_t next; /* where the next room is looked for */
};

/* False, and errno: the system gives no such memory. */
bool lark_pool_open(struct lark_pool *pool, uint32_t bytes);
void lark_pool_close(struct lark_pool *pool);

/* Put code at an offset, ready to run. */
void lark_pool_write(struct lark_pool *pool, uint32_t at, const uint8_t *code, uint32_t n);

#endif
