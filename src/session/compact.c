/* session/compact.c - see compact.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "compact.h"

#include <errno.h>
#include <stdlib.h>

struct jsp_compact *jsp_compact_open(bool folds)
{
    struct jsp_compact *c = malloc(sizeof *c);
    if (c && jsp_pack_init(&c->pack) < 0) {
        free(c);
        return NULL;
    }
    if (!c)
        return NULL;
    c->waiting = 0;
    c->fold = folds ? jsp_fold_open() : NULL;
    if (!folds)
        return c;
    c->pack.limit = JSP_FOLD_NODES;
    if (c->fold)
        return c;
    jsp_compact_close(c);
    return NULL;
}

void jsp_compact_close(struct jsp_compact *c)
{
    if (!c)
        return;
    jsp_pack_free(&c->pack);
    jsp_fold_close(c->fold);
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

/* A whole block must fit besides the spare room, which samples must not use. */
static bool compact_has_room(const struct jsp_compact *c, const struct jsp_writer *w)
{
    return w->used + sizeof c->pack.bytes + JSP_WRITER_SPARE <= w->capacity;
}

static struct jsp_pack_sample compact_sample(struct jsp_compact *c, const struct jsp_writer *w,
                                             struct jsp_listings *listings,
                                             const struct jsp_compact_sample *s)
{
    compact_places(c, listings, s->frames);
    return (struct jsp_pack_sample){
        .time = (int64_t)s->record->time_ns, .pid = w->pid, .tid = s->tid, .cpu = -1,
        .n = s->frames->n, .addrs = s->addrs, .lines = c->lines, .rows = c->rows,
        .known = true, .weight = s->record->weight, .cpu_ns = s->record->cpu_ns,
        .cut = (uint64_t)s->record->cut + s->frames->cut, .state = s->state,
        .task = s->record->task, .labels = s->labels,
    };
}

int jsp_compact_put(struct jsp_compact *c, const struct jsp_writer *w,
                    struct jsp_listings *listings, const struct jsp_compact_sample *s)
{
    if (!compact_has_room(c, w))
        return -ENOBUFS;
    struct jsp_pack_sample sample = compact_sample(c, w, listings, s);
    int err = jsp_pack_put(&c->pack, &sample);
    c->waiting += !err;
    return err;
}

int jsp_compact_fold(struct jsp_compact *c, const struct jsp_writer *w,
                     struct jsp_listings *listings, const struct jsp_compact_sample *s,
                     bool *is_new)
{
    if (!compact_has_room(c, w))
        return -ENOBUFS;
    struct jsp_pack_sample sample = compact_sample(c, w, listings, s);
    struct jsp_fold_row row = { .weight = sample.weight, .cpu_ns = sample.cpu_ns,
                                .cut = sample.cut, .state = sample.state, .tid = s->tid,
                                .labels = s->labels, .tally = s->tally };
    int err = jsp_pack_stack(&c->pack, &sample, &row.node);
    return err ? err : jsp_fold_add(c->fold, &row, s->record->time_ns, is_new);
}

/* All rows have one time, which takes one byte for each of them. */
int jsp_compact_row(struct jsp_compact *c, const struct jsp_writer *w,
                    const struct jsp_fold_row *row)
{
    if (!compact_has_room(c, w))
        return -ENOBUFS;
    const struct jsp_pack_sample sample = {
        .time = (int64_t)c->fold->last_ns, .pid = w->pid, .tid = row->tid, .cpu = -1,
        .known = true, .weight = row->weight, .cpu_ns = row->cpu_ns, .cut = row->cut,
        .state = row->state, .labels = row->labels,
    };
    int err = jsp_pack_at(&c->pack, &sample, row->node);
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
    if (!err && c->fold && !c->fold->n && c->pack.nodes.n > JSP_FOLD_NODES / 2)
        jsp_pack_forget(&c->pack); /* so that each segment has room for new stacks */
    return err;
}

void jsp_compact_drop(struct jsp_compact *c)
{
    jsp_pack_forget(&c->pack);
    c->waiting = 0;
    if (c->fold)
        jsp_fold_drop(c->fold, c->fold->n);
}
