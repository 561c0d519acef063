/* capture/read_stacks.c - the samples of jsprof/stacks as a cursor finds them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read_stacks.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/grow.h"
#include "read_records.h"
#include "wire.h"

void jsp_read_stacks_free(struct jsp_read_stacks *s)
{
    if (!s)
        return;
    jsp_nodes_free(&s->nodes);
    free(s->refs);
    free(s->blocks);
    free(s->runs);
    free(s);
}

static bool stacks_run_up_to(const void *item, const void *key)
{
    return ((const struct read_run *)item)->first <= *(const uint32_t *)key;
}

/* Return the ref of the node with the file's number `number`, or 0 if it was lost. */
static uint32_t stacks_ref(const struct jsp_read_stacks *s, uint32_t run, uint32_t number)
{
    uint32_t first = s->runs[run].epoch_run; /* the run with the epoch's lowest numbers */
    const struct read_run *r = &s->runs[first];
    r += jsp_bisect(r + 1, run - first, sizeof *r, stacks_run_up_to, &number);
    return number >= r->first && number - r->first < r->n ? r->base + (number - r->first)
                                                          : 0;
}

/* -- All chunks, once ------------------------------------------------------- */

/* Find the run of the nodes from `first` on: the last one, or a new one. Return 0, -1 if
 * there cannot be any, or 1 if there is no memory. */
static int stacks_run(struct jsp_read_stacks *s, const struct read_head *head)
{
    const struct read_run *last = s->n_runs ? &s->runs[s->n_runs - 1] : NULL;
    bool is_same = last && last->epoch == head->epoch;
    if (is_same && head->first < last->first + last->n)
        return -1;
    if (is_same && head->first == last->first + last->n)
        return 0;
    struct read_run run = { head->epoch, head->first, 0, s->n_refs,
                            is_same ? last->epoch_run : s->n_runs };
    if (jsp_grow(&s->runs, &s->runs_room, s->n_runs, sizeof *s->runs) < 0)
        return 1;
    s->runs[s->n_runs++] = run;
    return 0;
}

/* Add a node below the ref `parent`. Return false if there is no memory. */
static bool stacks_add(struct jsp_read_stacks *s, const struct jsp_node *written,
                       uint32_t parent, bool is_lost)
{
    struct read_ref ref = { 0, parent, written->row };
    struct jsp_node node = *written;
    if (jsp_grow(&s->refs, &s->refs_room, s->n_refs, sizeof *s->refs) < 0 ||
        jsp_nodes_reserve(&s->nodes, 1) < 0)
        return false;
    node.parent = s->refs[parent].node;
    node.row = 0; /* a row is not part of the frame */
    if (!is_lost)
        ref.node = jsp_nodes_add(&s->nodes, &node);
    s->refs[s->n_refs++] = ref;
    s->runs[s->n_runs - 1].n++;
    return true;
}

/* Read the nodes of one record. Return 0, -1 if it is malformed, or 1 if there is no
 * memory. */
static int stacks_nodes(struct jsp_read_stacks *s, struct jsp_read_records *r,
                        const struct read_record *record)
{
    uint32_t parent = record->node ? stacks_ref(s, s->n_runs - 1, record->node) : 0;
    bool is_lost = record->node && (!parent || !s->refs[parent].node);
    uint64_t depth = is_lost ? 0 : s->nodes.at[s->refs[parent].node].depth;
    struct jsp_node node;
    if (depth + record->n_nodes > JSP_WIRE_MAX_ADDRS)
        return -1;
    for (uint32_t i = 0; i < record->n_nodes; i++) {
        if (!jsp_read_records_node(r, &node))
            return -1;
        if (!stacks_add(s, &node, parent, is_lost))
            return 1;
        parent = s->n_refs - 1;
    }
    return 0;
}

/* Read a block's records up to its end or to the first bad one. Return false if there is
 * no memory. */
static bool stacks_records(struct jsp_read_stacks *s, struct read_block *b, uint64_t count)
{
    struct jsp_read_records r;
    struct read_record record;
    uint64_t samples = 0;
    jsp_read_records_start(&r, b->at, b->end, b->first);
    while (r.at < b->end) {
        const uint8_t *at = r.at;
        bool is_good = jsp_read_records_next(&r, &record);
        int err = is_good ? 0 : -1;
        if (is_good && record.n_nodes)
            err = stacks_nodes(s, &r, &record);
        if (err) {
            b->bad = b->end = at;
            return err < 0;
        }
        samples += record.n_nodes == 0;
    }
    if (samples != count)
        b->bad = b->end;
    return true;
}

static bool stacks_block(struct jsp_read_stacks *s, const struct jsp_read_chunk *chunk,
                         uint64_t offset)
{
    struct read_block b = { .offset = offset, .at = chunk->data,
                            .end = chunk->data + chunk->len };
    struct read_head head;
    if (chunk->len == 0)
        return true;
    bool is_good = jsp_read_records_head(&b.at, b.end, &head);
    int err = is_good ? stacks_run(s, &head) : -1;
    if (jsp_grow(&s->blocks, &s->blocks_room, s->n_blocks, sizeof *s->blocks) < 0 || err > 0)
        return false;
    b.first = is_good ? head.first : 0;
    b.run = s->n_runs - 1;
    bool is_done = true;
    if (err < 0)
        b.bad = b.end = b.at = chunk->data;
    else
        is_done = stacks_records(s, &b, head.count);
    s->blocks[s->n_blocks++] = b;
    return is_done;
}

static bool stacks_begin(struct jsp_read_stacks *s)
{
    if (jsp_nodes_init(&s->nodes) < 0 ||
        jsp_grow(&s->refs, &s->refs_room, 0, sizeof *s->refs) < 0)
        return false;
    s->refs[0] = (struct read_ref){ 0, 0, 0 };
    s->n_refs = 1;
    return true;
}

/* Load all chunks from the one at `offset` on. */
static void stacks_load(const struct jsp_read *r, uint64_t offset)
{
    struct jsp_read_stacks *s = r->stacks;
    struct jsp_read_cursor c;
    struct jsp_read_frame f;
    struct jsp_read_chunk chunk;
    s->is_loaded = true;
    s->is_short = !stacks_begin(s);
    jsp_read_start(&c, r, NULL);
    f.offset = c.offset = offset;
    while (!s->is_short && jsp_read_file(&c, JSP_WIRE_FILE_STACKS, &f, &chunk))
        s->is_short = !stacks_block(s, &chunk, f.offset);
    s->short_at = f.offset;
}

/* -- Where a cursor stands -------------------------------------------------- */

static void stacks_enter(struct jsp_read_cursor *c, const struct jsp_read_frame *f)
{
    struct jsp_read_stacks *s = c->capture->stacks;
    struct jsp_read_cursor quiet = { .capture = c->capture };
    struct jsp_read_chunk chunk;
    if (!jsp_read_chunk(&quiet, f, &chunk) || !jsp_read_is(chunk.path, JSP_WIRE_FILE_STACKS))
        return;
    if (!s->is_loaded)
        stacks_load(c->capture, f->offset);
    if (s->is_short && f->offset >= s->short_at)
        jsp_read_count(c->defects, JSP_READ_MEMORY, f->offset);
    struct jsp_bisect_number than = { offsetof(struct read_block, offset), f->offset };
    size_t at = jsp_bisect_below(s->blocks, s->n_blocks, sizeof *s->blocks, than);
    bool is_there = at < s->n_blocks && s->blocks[at].offset == f->offset;
    c->block = is_there ? &s->blocks[at] : NULL;
    if (c->block)
        jsp_read_records_start(&c->records, c->block->at, c->block->end, c->block->first);
}

static void stacks_leave(struct jsp_read_cursor *c)
{
    if (c->block->bad)
        jsp_read_count(c->defects, JSP_READ_STACKS,
                       (uint64_t)(c->block->bad - c->capture->bytes));
    c->block = NULL;
}

static void stacks_skip(struct jsp_read_records *r, uint32_t n)
{
    struct jsp_node node;
    while (n-- && jsp_read_records_node(r, &node))
        continue;
}

/* Inlined, its registers would cost each frame of a plain capture ten instructions. */
static __attribute__((noinline)) bool stacks_next(struct jsp_read_cursor *c,
                                                  struct jsp_read_frame *out)
{
    const struct jsp_read_stacks *s = c->capture->stacks;
    struct read_record record;
    while (c->records.at < c->block->end) {
        const uint8_t *at = c->records.at;
        jsp_read_records_next(&c->records, &record); /* it was good when it was loaded */
        if (record.n_nodes) {
            stacks_skip(&c->records, record.n_nodes);
            continue;
        }
        uint32_t ref = stacks_ref(s, c->block->run, record.node);
        uint64_t offset = (uint64_t)(at - c->capture->bytes);
        if (!ref || !s->refs[ref].node) {
            jsp_read_count(c->defects, JSP_READ_LOST, offset);
            continue;
        }
        const uint8_t *chunk = c->capture->bytes + c->block->offset;
        *out = (struct jsp_read_frame){ .at = chunk, .offset = offset,
                                        .len = jsp_read_u16(c->capture, chunk),
                                        .pid = record.pid, .time = record.time,
                                        .cpu = record.cpu, .type = JSP_WIRE_SAMPLE,
                                        .packed = record.sample };
        out->packed.node = s->refs[ref].node;
        out->packed.ref = ref;
        return true;
    }
    stacks_leave(c);
    return false;
}

/* A frame of the file, or a sample of the chunk of jsprof/stacks that the cursor is in. */
bool jsp_read_next(struct jsp_read_cursor *c, struct jsp_read_frame *out)
{
    if (c->block && stacks_next(c, out))
        return true;
    if (!jsp_read_raw(c, out))
        return false;
    if (out->type == JSP_WIRE_FILE_CHUNK)
        stacks_enter(c, out);
    return true;
}

/* -- What a stack is -------------------------------------------------------- */

uint64_t jsp_read_node(const struct jsp_read *r, uint32_t *node, uint64_t *line)
{
    const struct jsp_node *at = &r->stacks->nodes.at[*node];
    *line = at->line;
    *node = at->parent;
    return at->addr;
}

uint32_t jsp_read_rows(const struct jsp_read *r, uint32_t ref, uint32_t *out, uint32_t most)
{
    uint32_t n = 0, i = 0;
    for (; ref && i < most; ref = r->stacks->refs[ref].parent) {
        out[i++] = r->stacks->refs[ref].row;
        n = out[i - 1] ? i : n;
    }
    return n;
}
