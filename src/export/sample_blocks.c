/* export/sample_blocks.c - writes what SAMPLE frames cannot hold.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sample_blocks.h"

#include "analyze/addresses.h"
#include "capture/taskfile.h"

enum { BLOCKS_LINE_MOST = 5, BLOCKS_FIELDS = JSP_EMBEDDED_WEIGHT };

void jsp_sample_blocks_init(struct jsp_sample_blocks *s, jsp_sample_blocks_chunk *chunk,
                            void *context)
{
    s->chunk = chunk;
    s->context = context;
    s->weights.path = JSP_WIRE_FILE_SAMPLES;
    s->pcs.path = JSP_WIRE_FILE_PCS;
    s->states.path = JSP_WIRE_FILE_STATES;
    s->weights.count = s->weights.used = s->pcs.count = s->pcs.used = 0;
    s->states.count = s->states.used = 0;
    s->running.path = JSP_WIRE_FILE_RUNNING;
    s->running.count = s->running.used = 0;
}

static void blocks_end(struct jsp_sample_blocks *s, struct jsp_sample_block *b)
{
    uint8_t head[JSP_SAMPLE_BLOCK_HEAD];
    if (!b->count)
        return;
    size_t n = jsp_embedded_block_put(head, b->first, b->count);
    uint8_t *at = memcpy(b->bytes + JSP_SAMPLE_BLOCK_HEAD - n, head, n);
    s->chunk(s->context, b->path, at, n + b->used);
    b->count = b->used = 0;
}

/* Make room for `bytes` bytes of sample `ordinal`. Return false if no block has so
 * much. */
static bool blocks_begin(struct jsp_sample_blocks *s, struct jsp_sample_block *b,
                         uint64_t ordinal, size_t bytes)
{
    if (b->used + bytes > JSP_SAMPLE_BLOCK_ROOM)
        blocks_end(s, b);
    if (bytes > JSP_SAMPLE_BLOCK_ROOM)
        return false;
    if (!b->count++)
        b->first = b->next = ordinal;
    return true;
}

static uint8_t *blocks_at(struct jsp_sample_block *b)
{
    return b->bytes + JSP_SAMPLE_BLOCK_HEAD + b->used;
}

/* Return how many lines to write: unknown ones at the outer end are left out. */
static uint32_t blocks_lines(const struct jsp_profile *p, const struct jsp_sample *sample)
{
    struct jsp_addresses all;
    uint64_t addr, line;
    uint32_t n = 0, i = 0;
    jsp_addresses_of_sample(&all, p, sample);
    while (jsp_addresses_next(&all, &addr, &line)) {
        i++;
        n = line ? i : n;
    }
    return n;
}

bool jsp_sample_blocks_weight(struct jsp_sample_blocks *s, const struct jsp_profile *p,
                              const struct jsp_sample *sample, uint64_t ordinal)
{
    struct jsp_sample_block *b = &s->weights;
    const struct jsp_weight *w = &sample->weight;
    uint32_t n = blocks_lines(p, sample);
    size_t bytes = sample->body.node ? n * (size_t)BLOCKS_LINE_MOST : w->lines_bytes;
    if (b->count && b->next != ordinal)
        blocks_end(s, b);
    if (!w->known)
        return true; /* the gap in the numbers says that it is unknown */
    if (!blocks_begin(s, b, ordinal, BLOCKS_FIELDS + bytes))
        return false;
    struct jsp_weight record = { .weight = w->weight, .cpu_ns = w->cpu_ns, .cut = w->cut,
                                 .n_lines = n };
    b->used += (uint32_t)jsp_embedded_weight_put(blocks_at(b), &record);
    struct jsp_addresses all;
    uint64_t addr, line;
    jsp_addresses_of_sample(&all, p, sample);
    while (n-- && jsp_addresses_next(&all, &addr, &line))
        b->used += (uint32_t)jsp_varint_put(blocks_at(b), line);
    b->next = ordinal + 1;
    return true;
}

void jsp_sample_blocks_rows(struct jsp_sample_blocks *s, const uint32_t *rows, uint32_t n,
                            uint64_t ordinal)
{
    struct jsp_sample_block *b = &s->pcs;
    if (!n || !blocks_begin(s, b, ordinal, 2 * JSP_VARINT_MAX + n * (size_t)BLOCKS_LINE_MOST))
        return;
    b->used += (uint32_t)jsp_embedded_pcs_put(blocks_at(b), ordinal - b->next, rows, n);
    b->next = ordinal + 1;
}

void jsp_sample_blocks_state(struct jsp_sample_blocks *s, const struct jsp_read_state *state,
                             uint64_t ordinal)
{
    struct jsp_sample_block *b = &s->states;
    if (b->count && b->next != ordinal)
        blocks_end(s, b);
    if ((!state->state && !b->count) || !blocks_begin(s, b, ordinal, JSP_EMBEDDED_STATE))
        return;
    b->used += (uint32_t)jsp_embedded_state_put(blocks_at(b), state);
    b->next = ordinal + 1;
}

void jsp_sample_blocks_task(struct jsp_sample_blocks *s, uint64_t task, uint64_t ordinal)
{
    struct jsp_sample_block *b = &s->running;
    if (b->count && b->next != ordinal)
        blocks_end(s, b);
    if ((!task && !b->count) || !blocks_begin(s, b, ordinal, JSP_VARINT_MAX))
        return;
    s->task = b->count == 1 ? 0 : s->task;
    b->used += (uint32_t)jsp_running_put(blocks_at(b), &s->task, task);
    b->next = ordinal + 1;
}

/* Step over a block of states. */
static bool blocks_skip_states(const uint8_t **at, const uint8_t *end)
{
    struct jsp_read_state state;
    uint64_t first, count;
    if (!jsp_embedded_block_get(at, end, &first, &count))
        return false;
    while (count && jsp_embedded_state_get(at, end, &state))
        count--;
    return !count;
}

void jsp_sample_blocks_calls(const struct jsp_read_chunk *chunk, jsp_sample_blocks_chunk *put,
                             void *context)
{
    const uint8_t *at = chunk->data, *end = at + chunk->len;
    while (at < end) {
        struct jsp_read_text name;
        uint64_t number;
        const uint8_t *begin = at, *after = at;
        while (after < end && jsp_embedded_call_name_get(&after, end, &number, &name))
            at = after;
        if (at > begin)
            put(context, JSP_WIRE_FILE_STATES, begin, (size_t)(at - begin));
        if (at < end && !blocks_skip_states(&at, end))
            return; /* its defect was reported when the capture was loaded */
    }
}

void jsp_sample_blocks_flush(struct jsp_sample_blocks *s)
{
    blocks_end(s, &s->weights);
    blocks_end(s, &s->pcs);
    blocks_end(s, &s->states);
    blocks_end(s, &s->running);
}

uint32_t jsp_sample_blocks_rows_of(const struct jsp_profile *p, struct jsp_bytecode_pcs *pcs,
                                   const struct jsp_sample *sample, uint32_t *out)
{
    return sample->ref ? jsp_read_rows(p->capture, sample->ref, out, JSP_PROFILE_DEPTH)
                       : jsp_bytecode_pcs_get(pcs, sample->ordinal, out, JSP_PROFILE_DEPTH);
}
