/* export/places.c - see places.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "places.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

int jsp_places_init(struct jsp_places *p)
{
    *p = (struct jsp_places){ .n = 0 };
    return jsp_hash_init(&p->by_place, 0);
}

void jsp_places_free(struct jsp_places *p)
{
    jsp_hash_free(&p->by_place);
    free(p->list);
}

uint32_t jsp_places_add(struct jsp_places *p, uint32_t function, uint32_t file)
{
    uint64_t h = jsp_hash_mix(p->by_place.seed, (uint64_t)function << 32 | file);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&p->by_place, hash, &probe)) != 0)
        if (p->list[at - 1].function == function && p->list[at - 1].file == file)
            return at - 1;
    if (jsp_grow(&p->list, &p->room, p->n, sizeof *p->list) < 0 ||
        jsp_hash_add(&p->by_place, hash, p->n) < 0) {
        p->error = -ENOMEM;
        return 0;
    }
    p->list[p->n] = (struct jsp_place){ function, file };
    return p->n++;
}
