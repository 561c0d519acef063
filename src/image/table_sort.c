/* image/table_sort.c - see table_sort.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "table_sort.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/block.h"

enum { SORT_BITS = 11, SORT_PASSES = 3, SORT_BUCKETS = 1 << SORT_BITS };

static bool sort_is_done(const struct jsp_table_piece *pieces, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (pieces[i - 1].start > pieces[i].start)
            return false;
    return true;
}

struct sort_digit {
    uint32_t shift;
    /* SORT_BUCKETS counters, on the heap because callers have little stack */
    uint32_t *at;
};

static void sort_pass(const struct jsp_table_piece *from, struct jsp_table_piece *to,
                      uint32_t n, struct sort_digit digit)
{
    uint32_t *at = digit.at, shift = digit.shift, sum = 0;
    memset(at, 0, SORT_BUCKETS * sizeof *at);
    for (uint32_t i = 0; i < n; i++)
        at[from[i].start >> shift & (SORT_BUCKETS - 1)]++;
    for (uint32_t b = 0; b < SORT_BUCKETS; b++) {
        uint32_t here = at[b];
        at[b] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < n; i++)
        to[at[from[i].start >> shift & (SORT_BUCKETS - 1)]++] = from[i];
}

int jsp_table_sort(struct jsp_table_piece *pieces, uint32_t n)
{
    if (sort_is_done(pieces, n))
        return 0;
    enum { BUCKETS = SORT_BUCKETS * sizeof(uint32_t) };
    struct jsp_table_piece *other = jsp_block_grow(NULL, n * sizeof *other + BUCKETS);
    struct jsp_table_piece *from = pieces, *to = other;
    if (!other)
        return -ENOMEM;
    for (uint32_t pass = 0; pass < SORT_PASSES; pass++) {
        sort_pass(from, to, n, (struct sort_digit){ pass * SORT_BITS, (void *)(other + n) });
        struct jsp_table_piece *swap = from;
        from = to;
        to = swap;
    }
    /* after an odd number of passes the result is in `other` */
    memcpy(pieces, other, n * sizeof *pieces);
    jsp_block_free(other);
    return 0;
}
