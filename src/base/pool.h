/* base/pool.h - a store that keeps each byte string once.
 *
 * Outside the handler only, one thread at a time for each pool.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_POOL_H
#define JSP_BASE_POOL_H

#include <stddef.h>
#include <stdint.h>

struct jsp_pool { /* zeroed: empty */
    uint8_t *bytes;     /* owned; all strings, one after another */
    uint32_t n_bytes, room;
    struct jsp_pool_slot {
        uint32_t hash, at, n; /* n = 0: free */
    } *slots;           /* owned; a block, which hash.h cannot give back to the system */
    uint32_t n_slots, n_used;
};

/* Return the offset in `bytes` of these n > 0 bytes, adding them if needed; or -ENOMEM or
 * -EFBIG. */
int64_t jsp_pool_add(struct jsp_pool *pool, const void *bytes, uint32_t n);

#endif
