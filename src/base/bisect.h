/* base/bisect.h - finds the place of a key in a sorted array.
 *
 * The functions are inlined into their callers together with the comparison, which is a
 * constant there, so they cost as much as a loop written out. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_BISECT_H
#define JSP_BASE_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Is the item before the place of this key? True for the first items, false for all later
 * ones. */
typedef bool jsp_bisect_before(const void *item, const void *key);

/* Return how many of `n` items of `each` bytes are before the key. */
__attribute__((always_inline)) static inline size_t
jsp_bisect(const void *items, size_t n, size_t each, jsp_bisect_before *is_before,
           const void *key)
{
    size_t low = 0;
    while (low < n) {
        size_t mid = low + (n - low) / 2;
        if (is_before((const char *)items + mid * each, key))
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

struct jsp_bisect_number {
    size_t offset; /* of a uint64_t in each item */
    uint64_t key;
};

/* Return true if the item's number is below the key. For jsp_bisect. */
static inline bool jsp_bisect_is_below(const void *item, const void *key)
{
    const struct jsp_bisect_number *than = key;
    return *(const uint64_t *)((const char *)item + than->offset) < than->key;
}

/* Return true if the item's number is at most the key. For jsp_bisect. */
static inline bool jsp_bisect_is_up_to(const void *item, const void *key)
{
    const struct jsp_bisect_number *than = key;
    return *(const uint64_t *)((const char *)item + than->offset) <= than->key;
}

/* Return how many of `n` sorted items have a number below the key. */
__attribute__((always_inline)) static inline size_t
jsp_bisect_below(const void *items, size_t n, size_t each, struct jsp_bisect_number than)
{
    return jsp_bisect(items, n, each, jsp_bisect_is_below, &than);
}

/* Return how many of `n` sorted items have a number of at most the key. */
__attribute__((always_inline)) static inline size_t
jsp_bisect_up_to(const void *items, size_t n, size_t each, struct jsp_bisect_number than)
{
    return jsp_bisect(items, n, each, jsp_bisect_is_up_to, &than);
}

#endif
