/* export/sample_blocks.c - writes what SAMPLE frames cannot hold.
 *
 * SPDX-License-Identifier: MIT
 */
#include "sample_blocks.h"

#include <stdlib.h>

#include "analyze/addresses.h"
#include "capture/labelfile.h"
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
    s->labels.path = JSP_WIRE_FILE_LABELS;
    s->running.count = s->running.used = s->labels.count = s->labels.used = 0;
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

/* Add a number as its difference from the last one, *last, of the block. */
static void blocks_number(struct jsp_sample_blocks *s, struct jsp_sample_block *b,
                          uint64_t *last, uint64_t number, uint64_t ordinal)
{
    if (b->count && b->next != ordinal)
        blocks_end(s, b);
    if ((!number && !b->count) || !blocks_begin(s, b, ordinal, JSP_VARINT_MAX))
        return;
    *last = b->count == 1 ? 0 : *last;
    b->used += (uint32_t)jsp_running_put(blocks_at(b), last, number);
    b->next = ordinal + 1;
}

void jsp_sample_blocks_task(struct jsp_sample_blocks *s, uint64_t task, uint64_t ordinal)
{
    blocks_number(s, &s->running, &s->task, task, ordinal);
}

void jsp_sample_blocks_labels(struct jsp_sample_blocks *s, uint64_t labels, uint64_t ordinal)
{
    blocks_number(s, &s->labels, &s->label, labels, ordinal);
}

static bool blocks_skip_numbers(const uint8_t **at, const uint8_t *end)
{
    uint64_t first, count, folded;
    if (!jsp_embedded_block_get(at, end, &first, &count))
        return false;
    while (count && jsp_read_varint(at, end, &folded))
        count--;
    return !count;
}

/* Return the bytes that a definition can take. */
static size_t blocks_set_most(const struct jsp_labels_record *r)
{
    return JSP_LABELS_RECORD + (size_t)(r->set.end - r->set.at);
}

uint64_t jsp_sample_blocks_sets(const struct jsp_read_chunk *chunk,
                                const struct jsp_sample_numbers *add,
                                jsp_sample_blocks_chunk *put, void *context, bool *failed)
{
    const uint8_t *at = chunk->data, *end = at + chunk->len;
    uint8_t *bytes = malloc(JSP_WIRE_MAX_CHUNK);
    uint64_t last = 0;
    size_t n = 0;
    *failed |= !bytes;
    while (bytes && at < end) {
        struct jsp_labels_record r;
        if (*at == JSP_WIRE_BLOCK) {
            if (!blocks_skip_numbers(&at, end))
                break; /* its defect was reported when the capture was loaded */
            continue;
        }
        if (!jsp_labels_record_get(&at, end, &r))
            break;
        if (n && n + blocks_set_most(&r) > JSP_WIRE_MAX_CHUNK) {
            put(context, JSP_WIRE_FILE_LABELS, bytes, n);
            n = 0;
        }
        if (blocks_set_most(&r) > JSP_WIRE_MAX_CHUNK)
            continue; /* larger than any that we write */
        r.number += add->labels;
        if (r.tag == JSP_WIRE_LABELS_TASK)
            r.other += add->tasks;
        else if (r.other)
            r.other += add->labels;
        last = r.number > last ? r.number : last;
        n += jsp_labels_record_put(bytes + n, &r);
    }
    if (n)
        put(context, JSP_WIRE_FILE_LABELS, bytes, n);
    free(bytes);
    return last;
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
    blocks_end(s, &s->labels);
}

uint32_t jsp_sample_blocks_rows_of(const struct jsp_profile *p, struct jsp_bytecode_pcs *pcs,
                                   const struct jsp_sample *sample, uint32_t *out)
{
    return sample->ref ? jsp_read_rows(p->capture, sample->ref, out, JSP_PROFILE_DEPTH)
                       : jsp_bytecode_pcs_get(pcs, sample->ordinal, out, JSP_PROFILE_DEPTH);
}
