/* analyze/weights.c - the weight of each sample: the file jsprof/samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include "weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static bool weights_skip(const uint8_t **at, const uint8_t *end)
{
    struct jsp_weight skipped;
    return jsp_embedded_weight_get(at, end, &skipped);
}

int jsp_weights_block(struct jsp_weights *w, const uint8_t **at,
                      const struct jsp_weights_block *chunk,
                      const struct jsp_weights_record *record)
{
    struct jsp_weights_block b = *chunk;
    if (!jsp_embedded_block_get(at, chunk->end, &b.first, &b.count))
        return -EBADMSG;
    b.at = *at;
    /* A record has a least size: more records than that are impossible. */
    if (b.count > (uint64_t)(chunk->end - *at) / record->least || b.first > UINT64_MAX / 2)
        return -EBADMSG;
    for (uint64_t i = 0; i < b.count; i++)
        if (!record->skip(at, chunk->end))
            return -EBADMSG;
    b.end = *at;
    if (b.count == 0)
        return 0;
    const struct jsp_weights_block *last = w->n ? &w->blocks[w->n - 1] : NULL;
    if (last && b.first < last->first + last->count)
        return -EBADMSG;
    if (jsp_grow(&w->blocks, &w->capacity, w->n, sizeof *w->blocks) < 0)
        return -ENOMEM;
    w->blocks[w->n++] = b;
    return 0;
}

int jsp_weights_add(struct jsp_weights *w, const uint8_t *at, const uint8_t *end,
                    uint64_t offset)
{
    static const struct jsp_weights_record record = { weights_skip, 4 };
    const struct jsp_weights_block chunk = { .end = end, .offset = offset };
    int err = 0;
    while (err == 0 && at < end)
        err = jsp_weights_block(w, &at, &chunk, &record);
    return err;
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

const struct jsp_weights_block *jsp_weights_at(const struct jsp_weights *w,
                                               const struct jsp_weights_cursor *c,
                                               uint64_t ordinal)
{
    return c->next == ordinal ? &w->blocks[c->block] : NULL;
}

void jsp_weights_step(const struct jsp_weights *w, struct jsp_weights_cursor *c)
{
    const struct jsp_weights_block *b = &w->blocks[c->block];
    if (++c->next == b->first + b->count)
        weights_enter(w, c, c->block + 1);
}

void jsp_weights_get(const struct jsp_weights *w, struct jsp_weights_cursor *c,
                     uint64_t ordinal, struct jsp_weight *out)
{
    const struct jsp_weights_block *b = jsp_weights_at(w, c, ordinal);
    memset(out, 0, sizeof *out);
    out->weight = 1;
    if (!b)
        return;
    jsp_embedded_weight_get(&c->at, b->end, out); /* was checked when it was added */
    jsp_weights_step(w, c);
}

void jsp_weights_free(struct jsp_weights *w)
{
    free(w->blocks);
    memset(w, 0, sizeof *w);
}
