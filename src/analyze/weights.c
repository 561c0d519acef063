/* analyze/weights.c - the weight of each sample: the file jsprof/samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include "weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

int jsp_weights_add(struct jsp_weights *w, const uint8_t *at, const uint8_t *end,
                    uint64_t offset)
{
    while (at < end) {
        struct jsp_weights_block b = { .end = end, .offset = offset };
        struct jsp_weight skipped;
        if (!jsp_embedded_block_get(&at, end, &b.first, &b.count))
            return -EBADMSG;
        b.at = at;
        /* A record has at least 4 bytes: more records than that are impossible. */
        if (b.count > (uint64_t)(end - at) / 4 || b.first > UINT64_MAX / 2)
            return -EBADMSG;
        for (uint64_t i = 0; i < b.count; i++)
            if (!jsp_embedded_weight_get(&at, end, &skipped))
                return -EBADMSG;
        b.end = at;
        if (b.count == 0)
            continue;
        const struct jsp_weights_block *last = w->n ? &w->blocks[w->n - 1] : NULL;
        if (last && b.first < last->first + last->count)
            return -EBADMSG;
        if (jsp_grow(&w->blocks, &w->capacity, w->n, sizeof *w->blocks) < 0)
            return -ENOMEM;
        w->blocks[w->n++] = b;
    }
    return 0;
}

static void weights_enter(const struct jsp_weights *w, struct jsp_weights_cursor *c,
                          uint32_t block)
{
    c->block = block;
    c->next = block < w->n ? w->blocks[block].first : UINT64_MAX;
    c->at = block < w->n ? w->blocks[block].at : NULL;
}

void jsp_weights_start(const struct jsp_weights *w, struct jsp_weights_cursor *c)
{
    weights_enter(w, c, 0);
}

void jsp_weights_get(const struct jsp_weights *w, struct jsp_weights_cursor *c,
                     uint64_t ordinal, struct jsp_weight *out)
{
    memset(out, 0, sizeof *out);
    out->weight = 1;
    if (c->next != ordinal)
        return;
    const struct jsp_weights_block *b = &w->blocks[c->block];
    jsp_embedded_weight_get(&c->at, b->end, out); /* was checked when it was added */
    if (++c->next == b->first + b->count)
        weights_enter(w, c, c->block + 1);
}

void jsp_weights_free(struct jsp_weights *w)
{
    free(w->blocks);
    memset(w, 0, sizeof *w);
}
