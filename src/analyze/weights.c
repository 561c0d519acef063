/* weights.c - the weight of each sample: the file jsprof/samples.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "capture/wire.h"

/* Skip n varints, eight bytes at a time: only the last byte of each is below 0x80. */
static bool weights_skip(const uint8_t **at, const uint8_t *end, uint64_t n)
{
    while (n >= 8 && end - *at >= 8) {
        uint64_t word;
        memcpy(&word, *at, sizeof word);
        n -= (uint64_t)__builtin_popcountll(~word & 0x8080808080808080u);
        *at += 8;
    }
    while (n > 0 && *at < end)
        n -= *(*at)++ < 0x80;
    return n == 0;
}

static bool weights_record(const uint8_t **at, const uint8_t *end, struct jsp_weight *out)
{
    uint64_t n_lines;
    if (!jsp_read_varint(at, end, &out->weight) ||
        !jsp_read_varint(at, end, &out->cpu_ns) || !jsp_read_varint(at, end, &out->cut) ||
        !jsp_read_varint(at, end, &n_lines) || n_lines > JSP_WIRE_MAX_ADDRS)
        return false;
    out->lines = *at;
    if (!weights_skip(at, end, n_lines))
        return false;
    out->lines_bytes = (uint32_t)(*at - out->lines);
    out->n_lines = (uint32_t)n_lines;
    out->known = true;
    return true;
}

static int weights_block(struct jsp_weights *w, const struct jsp_weights_block *b)
{
    const struct jsp_weights_block *last = w->n ? &w->blocks[w->n - 1] : NULL;
    if (last && b->first < last->first + last->count)
        return -EBADMSG;
    struct jsp_weights_block *more =
        jsp_grow(w->blocks, &w->capacity, w->n, sizeof *more);
    if (!more)
        return -ENOMEM;
    w->blocks = more;
    w->blocks[w->n++] = *b;
    return 0;
}

int jsp_weights_add(struct jsp_weights *w, const uint8_t *at, const uint8_t *end,
                    uint64_t offset)
{
    while (at < end) {
        struct jsp_weights_block b = { .end = end, .offset = offset };
        struct jsp_weight skipped;
        if (*at++ != JSP_WIRE_BLOCK || !jsp_read_varint(&at, end, &b.first) ||
            !jsp_read_varint(&at, end, &b.count))
            return -EBADMSG;
        b.at = at;
        /* A record has at least 4 bytes: more records than that are impossible. */
        if (b.count > (uint64_t)(end - at) / 4 || b.first > UINT64_MAX / 2)
            return -EBADMSG;
        for (uint64_t i = 0; i < b.count; i++)
            if (!weights_record(&at, end, &skipped))
                return -EBADMSG;
        b.end = at;
        int err = b.count ? weights_block(w, &b) : 0;
        if (err < 0)
            return err;
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
    weights_record(&c->at, b->end, out); /* cannot fail: jsp_weights_add has checked it */
    if (++c->next == b->first + b->count)
        weights_enter(w, c, c->block + 1);
}

void jsp_weights_free(struct jsp_weights *w)
{
    free(w->blocks);
    memset(w, 0, sizeof *w);
}
