/* session/listing.c - see listing.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "listing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "capture/embedded.h"
#include "sigsafe/names.h"

enum {
    LISTING_TEXT = 1023,        /* bytes of a row's text; longer ones are cut */
    LISTING_ROW = LISTING_TEXT + (5 + JSPROF_LISTING_TARGETS) * JSP_VARINT_MAX,
    LISTING_RECORD = 60000,     /* bytes of a record with rows; fits in a chunk */
    LISTING_FIRST = 512, /* listings before the index must grow */
    LISTING_IDS = 1 << JSP_ARENA_ID_BITS,
};
/* in of_id: not found among so many listings */
static const uint32_t listing_none = 1u << 31;
_Static_assert(LISTING_RECORD + LISTING_ROW < 2 * JSP_WIRE_MAX_CHUNK, "scratch");
_Static_assert(LISTING_ROW + JSP_EMBEDDED_LISTING < LISTING_RECORD, "one row fits a record");

/* A listing being encoded. */
struct listing_build {
    const jsprof_listing *from;
    struct jsp_listing *to;
    size_t room;      /* size of the memory at to->bytes */
    uint32_t first;   /* the row that begins the record in `rows` */
    size_t used;
    uint8_t rows[LISTING_RECORD];
    uint8_t row[LISTING_ROW];
};

static uint32_t listing_hash(const struct jsp_listings *all, const char *text, size_t len)
{
    return (uint32_t)(jsp_hash_bytes(all->by_name.seed, text, len) >> 16);
}

static struct jsp_listing *listing_find(const struct jsp_listings *all, const char *name,
                                        size_t len)
{
    uint32_t hash = listing_hash(all, name, len), probe = hash, at;
    if (!all->n)
        return NULL;
    while ((at = jsp_hash_next(&all->by_name, hash, &probe)) != 0)
        if (strlen(all->at[at - 1]->name) == len &&
            memcmp(all->at[at - 1]->name, name, len) == 0)
            return all->at[at - 1];
    return NULL;
}

/* -- Encoding --------------------------------------------------------------- */

static int listing_append(struct listing_build *b, const void *bytes, size_t n)
{
    struct jsp_listing *to = b->to;
    if (to->n_bytes + n > JSP_LISTINGS_BYTES)
        return -E2BIG;
    if (to->n_bytes + n > b->room) {
        size_t room = 2 * (to->n_bytes + n);
        uint8_t *more = realloc(to->bytes, room);
        if (!more)
            return -ENOMEM;
        to->bytes = more;
        b->room = room;
    }
    memcpy(to->bytes + to->n_bytes, bytes, n);
    to->n_bytes += n;
    return 0;
}

static int listing_record(struct listing_build *b, const uint8_t *head, size_t n_head)
{
    uint32_t len = (uint32_t)(n_head + b->used);
    int err = listing_append(b, &len, sizeof len);
    if (!err)
        err = listing_append(b, head, n_head);
    if (!err)
        err = listing_append(b, b->rows, b->used);
    b->used = 0;
    return err;
}

/* Append the gathered rows as a record; `until` is the next row. */
static int listing_rows(struct listing_build *b, uint32_t until)
{
    uint8_t head[JSP_EMBEDDED_LISTING];
    struct jsp_embedded_listing rows = { .tag = JSP_WIRE_LISTING_ROWS, .number = b->to->number,
                                         .first = b->first, .count = until - b->first };
    if (!b->used)
        return 0;
    b->first = until;
    return listing_record(b, head, jsp_embedded_listing_put(head, &rows));
}

static bool listing_row_is_good(const struct listing_build *b, uint32_t i)
{
    const jsprof_listing_row *row = &b->from->rows[i];
    return row->text && row->pc > (i ? b->from->rows[i - 1].pc : 0) &&
           (!row->n_targets || row->targets) && row->n_targets <= JSPROF_LISTING_TARGETS;
}

static int listing_row(struct listing_build *b, uint32_t i)
{
    const jsprof_listing_row *row = &b->from->rows[i];
    int err = 0;
    if (!listing_row_is_good(b, i))
        return -EINVAL;
    struct jsp_embedded_row record = {
        .pc = row->pc, .line = row->line, .ends = row->ends, .n_targets = row->n_targets,
        .targets = row->targets,
        .text = { row->text, (uint32_t)strnlen(row->text, LISTING_TEXT) },
    };
    size_t n = jsp_embedded_row_put(b->row, &record);
    if (b->used + n > sizeof b->rows)
        err = listing_rows(b, i);
    memcpy(b->rows + b->used, b->row, n);
    b->used += n;
    b->to->pcs[i] = row->pc;
    return err;
}

static int listing_encode(struct listing_build *b)
{
    uint8_t head[JSP_EMBEDDED_LISTING + JSP_LABEL_MAX];
    struct jsp_embedded_listing begin = {
        .tag = JSP_WIRE_LISTING, .number = b->to->number, .count = b->from->n_rows,
        .name = { b->from->function->text, b->from->function->len },
    };
    int err = listing_record(b, head, jsp_embedded_listing_put(head, &begin));
    for (uint32_t i = 0; !err && i < b->from->n_rows; i++)
        err = listing_row(b, i);
    return err ? err : listing_rows(b, b->from->n_rows);
}

/* -- Registering ------------------------------------------------------------ */

static void listing_free(struct jsp_listing *l)
{
    if (!l)
        return;
    free(l->name);
    free(l->pcs);
    free(l->bytes);
    free(l);
}

static int listing_make(struct jsp_listing **out, const jsprof_listing *from, uint32_t number)
{
    struct listing_build *b = malloc(sizeof *b);
    struct jsp_listing *l = calloc(1, sizeof *l);
    int err = b && l ? 0 : -ENOMEM;
    if (!err) {
        b->from = from;
        b->to = l;
        b->room = b->used = 0;
        b->first = 0;
        l->number = number;
        l->n_rows = from->n_rows;
        l->name = strdup(from->function->text);
        l->pcs = calloc((size_t)from->n_rows + 1, sizeof *l->pcs);
        err = l->name && l->pcs ? listing_encode(b) : -ENOMEM;
    }
    free(b);
    if (err)
        listing_free(l);
    else
        *out = l;
    return err;
}

/* Allocate the tables for the first listing, and make room for one more. */
static int listing_reserve(struct jsp_listings *all)
{
    if (!all->of_id)
        /* the kernel gives memory as it is used */
        all->of_id = calloc(LISTING_IDS, sizeof *all->of_id);
    if (!all->of_id || jsp_grow(&all->at, &all->room, all->n, sizeof *all->at) < 0)
        return -ENOMEM;
    return all->by_name.slots ? 0 : jsp_hash_init(&all->by_name, LISTING_FIRST);
}

static size_t listing_size(const struct jsp_listing *l)
{
    return sizeof *l + strlen(l->name) + l->n_bytes + l->n_rows * sizeof *l->pcs;
}

static int listing_keep(struct jsp_listings *all, struct jsp_listing *l)
{
    if (all->bytes + listing_size(l) > JSP_LISTINGS_BYTES)
        return -E2BIG;
    int err = listing_reserve(all);
    if (err)
        return err;
    err = jsp_hash_add(&all->by_name, listing_hash(all, l->name, strlen(l->name)), all->n);
    if (err)
        return err;
    all->bytes += listing_size(l);
    all->at[all->n++] = l;
    return 0;
}

int jsp_listings_add(struct jsp_listings *all, const jsprof_listing *from)
{
    struct jsp_listing *same = listing_find(all, from->function->text, from->function->len);
    struct jsp_listing *l;
    int err = listing_make(&l, from, same ? same->number : all->n);
    if (err)
        return err;
    if (!same) {
        err = listing_keep(all, l);
    } else if (same->n_bytes != l->n_bytes || memcmp(same->bytes, l->bytes, l->n_bytes) != 0) {
        err = -EEXIST;
        same->is_shared = true;
        all->unsettled = same->number < all->unsettled ? same->number : all->unsettled;
    }
    if (same || err)
        listing_free(l);
    return err;
}

void jsp_listings_free(struct jsp_listings *all)
{
    for (uint32_t i = 0; i < all->n; i++)
        listing_free(all->at[i]);
    jsp_hash_free(&all->by_name);
    free(all->at);
    free(all->of_id);
    *all = (struct jsp_listings){ .arena = all->arena };
}

/* -- Samples ---------------------------------------------------------------- */

/* Return the listing of a label's function, or NULL. A label without a listing is
 * searched again when there are more of them. */
static struct jsp_listing *listing_of(struct jsp_listings *all, uint32_t label)
{
    uint32_t *known = &all->of_id[label % LISTING_IDS];
    if (*known && *known < listing_none)
        return all->at[*known - 1];
    if (*known == (listing_none | all->n))
        return NULL;
    const struct jsp_label *name = jsp_arena_label(all->arena, label);
    struct jsp_listing *l = listing_find(all, name->text, name->len);
    *known = l ? l->number + 1 : listing_none | all->n;
    return l;
}

/* Return the number of the last row that begins at or before the pc, from 1, or 0. */
static uint32_t listing_row_of(const struct jsp_listing *l, uint64_t pc)
{
    if (pc - l->pcs[0] < l->n_rows && l->pcs[pc - l->pcs[0]] == pc)
        return (uint32_t)(pc - l->pcs[0]) + 1; /* pcs that grow by one */
    return (uint32_t)jsp_bisect_up_to(l->pcs, l->n_rows, sizeof *l->pcs,
                                      (struct jsp_bisect_number){ 0, pc });
}

uint32_t jsp_listings_row(struct jsp_listings *all, uint32_t label, uint64_t pc)
{
    struct jsp_listing *l = all->n && pc ? listing_of(all, label) : NULL;
    uint32_t row = l ? listing_row_of(l, pc) : 0;
    if (row && !l->is_wanted) {
        l->is_wanted = true;
        all->unsettled = l->number < all->unsettled ? l->number : all->unsettled;
    }
    return row;
}

/* -- Writing ---------------------------------------------------------------- */

/* Write a chunk if enough room for the account of losses remains after it. */
static int listing_chunk(struct jsp_writer *w, const uint8_t *bytes, size_t n)
{
    if (w->used + n + sizeof(struct jsp_wire_chunk) + JSP_WRITER_SPARE > w->capacity)
        return -ENOBUFS;
    return jsp_writer_chunk(w, JSP_WIRE_FILE_LISTINGS, bytes, n);
}

static int listing_write(struct jsp_listing *l, struct jsp_writer *w)
{
    struct jsp_embedded_listing other = { .tag = JSP_WIRE_LISTING_OTHER, .number = l->number };
    uint8_t shared[JSP_EMBEDDED_LISTING];
    uint32_t len;
    int err = 0;
    for (; !err && l->written < l->n_bytes; l->written += err ? 0 : sizeof len + len) {
        memcpy(&len, l->bytes + l->written, sizeof len);
        err = listing_chunk(w, l->bytes + l->written + sizeof len, len);
    }
    if (!err && l->is_shared && !l->is_shared_written) {
        err = listing_chunk(w, shared, jsp_embedded_listing_put(shared, &other));
        l->is_shared_written = !err;
    }
    return err;
}

int jsp_listings_write(struct jsp_listings *all, struct jsp_writer *w)
{
    for (; all->unsettled < all->n; all->unsettled++) {
        struct jsp_listing *l = all->at[all->unsettled];
        int err = l->is_wanted ? listing_write(l, w) : 0;
        if (err)
            return err;
    }
    return 0;
}

void jsp_listings_renew(struct jsp_listings *all)
{
    for (uint32_t i = 0; i < all->n; i++) {
        all->at[i]->written = 0;
        all->at[i]->is_wanted = all->at[i]->is_shared_written = false;
    }
    all->unsettled = 0;
}
