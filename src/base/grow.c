/* base/grow.c - see grow.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { GROW_FIRST = 16 };

int jsp_grow_by(void *array, uint32_t *room, uint32_t n, uint32_t more, size_t each)
{
    uint64_t want = *room ? *room : GROW_FIRST;
    void *items;
    while (want < (uint64_t)n + more)
        want *= 2;
    if (want == *room)
        return 0;
    if (want > UINT32_MAX)
        return -ENOMEM;
    memcpy(&items, array, sizeof items); /* a pointer of any type */
    items = realloc(items, want * each);
    if (!items)
        return -ENOMEM;
    memcpy(array, &items, sizeof items);
    *room = (uint32_t)want;
    return 0;
}
