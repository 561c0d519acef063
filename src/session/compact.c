/* session/compact.c - see compact.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compact.h"

#include <errno.h>
#include <stdlib.h>

struct jsp_compact *jsp_compact_open(void)
{
    struct jsp_compact *c = malloc(sizeof *c);
    if (c && jsp_pack_init(&c->pack) < 0) {
        free(c);
        return NULL;
    }
    if (c)
        c->waiting = 0;
    return c;
}

void jsp_compact_close(struct jsp_compact *c)
{
    if (c)
        jsp_pack_free(&c->pack);
    free(c);
}

static void compact_places(struct jsp_compact *c, struct jsp_listings *listings,
                           const struct jsp_frames *frames)
{
    for (uint32_t i = 0; i < frames->n; i++) {
        const struct jsp_merged *frame = &frames->at[i];
        bool has_row = listings->n && !frame->native;
        c->lines[i] = frame->line;
        c->rows[i] = has_row ? jsp_listings_row(listings, frame->id, frame->pc) : 0;
    }
}

int jsp_compact_put(struct jsp_compact *c, const struct jsp_writer *w,
                    struct jsp_listings *listings, const struct jsp_compact_sample *s)
{
    /* a whole block must fit besides the spare room, which samples must not use */
    if (w->used + sizeof c->pack.bytes + JSP_WRITER_SPARE > w->capacity)
        return -ENOBUFS;
    compact_places(c, listings, s->frames);
    struct jsp_pack_sample sample = {
        .time = (int64_t)s->record->time_ns, .pid = w->pid, .tid = s->tid, .cpu = -1,
        .n = s->frames->n, .addrs = s->addrs, .lines = c->lines, .rows = c->rows,
        .known = true, .weight = s->record->weight, .cpu_ns = s->record->cpu_ns,
        .cut = (uint64_t)s->record->cut + s->frames->cut, .state = s->state,
        .task = s->record->task,
    };
    int err = jsp_pack_put(&c->pack, &sample);
    c->waiting += !err;
    return err;
}

int jsp_compact_write(struct jsp_compact *c, struct jsp_writer *w)
{
    const uint8_t *bytes;
    size_t n = jsp_pack_block(&c->pack, &bytes);
    int err = n ? jsp_writer_chunk(w, JSP_WIRE_FILE_STACKS, bytes, n) : 0;
    if (!err) {
        jsp_pack_next(&c->pack);
        c->waiting = 0;
    }
    return err;
}

void jsp_compact_drop(struct jsp_compact *c)
{
    jsp_pack_forget(&c->pack);
    c->waiting = 0;
}
