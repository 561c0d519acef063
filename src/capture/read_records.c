/* capture/read_records.c - the records of one block of jsprof/stacks, one by one.
 *
 * SPDX-License-Identifier: MIT
 */
#include "read_records.h"

#include "embedded.h"
#include "wire.h"

enum {
    RECORDS_MORE = JSP_WIRE_STACKS_CUT | JSP_WIRE_STACKS_PROCESSOR | JSP_WIRE_STACKS_UNKNOWN |
                   JSP_WIRE_STACKS_STATE | JSP_WIRE_STACKS_TASK | JSP_WIRE_STACKS_LABELS,
    RECORDS_NODE = JSP_WIRE_STACKS_TAGGED | JSP_WIRE_STACKS_LINE | JSP_WIRE_STACKS_ROW,
    RECORDS_NUMBERS = 1 << 30, /* numbers of nodes are smaller */
};

bool jsp_read_records_head(const uint8_t **at, const uint8_t *end, struct read_head *out)
{
    uint64_t first;
    if (*at == end || *(*at)++ != JSP_WIRE_BLOCK || !jsp_read_varint(at, end, &out->epoch) ||
        !jsp_read_varint(at, end, &first) || !jsp_read_varint(at, end, &out->count))
        return false;
    out->first = (uint32_t)first;
    return first >= 1 && first < RECORDS_NUMBERS;
}

void jsp_read_records_start(struct jsp_read_records *r, const uint8_t *at,
                            const uint8_t *end, uint32_t first)
{
    r->at = at;
    r->end = end;
    r->next = first;
    r->node = r->id = 0;
    r->addr = r->time = 0;
    r->cpu = -1;
    r->thread = 0;
    r->n_threads = 0;
}

/* Read a number by a fast path: most have one or two bytes. */
static inline bool records_number(struct jsp_read_records *r, uint64_t *out)
{
    if (r->at < r->end && *r->at < 0x80) {
        *out = *r->at++;
        return true;
    }
    return jsp_read_varint(&r->at, r->end, out);
}

static bool records_u32(struct jsp_read_records *r, uint32_t *out)
{
    uint64_t value;
    if (!records_number(r, &value) || value > UINT32_MAX)
        return false;
    *out = (uint32_t)value;
    return true;
}

/* Read a reference to an earlier node; 0 is none. */
static bool records_reference(struct jsp_read_records *r, uint32_t *out)
{
    uint64_t folded;
    if (!records_number(r, &folded))
        return false;
    uint64_t node = r->node + jsp_varint_unfold(folded);
    if (node >= r->next)
        return false;
    *out = r->node = (uint32_t)node;
    return true;
}

bool jsp_read_records_node(struct jsp_read_records *r, struct jsp_node *out)
{
    uint64_t step;
    if (r->at == r->end)
        return false;
    unsigned flags = *r->at++;
    *out = (struct jsp_node){ 0 };
    if (flags & ~(unsigned)RECORDS_NODE || !records_number(r, &step))
        return false;
    if (flags & JSP_WIRE_STACKS_TAGGED) {
        r->id += (uint32_t)jsp_varint_unfold(step);
        out->addr = JSP_WIRE_JIT_TAG | r->id;
    } else {
        r->addr += jsp_varint_unfold(step);
        out->addr = r->addr;
    }
    if ((flags & JSP_WIRE_STACKS_LINE && !records_u32(r, &out->line)) ||
        (flags & JSP_WIRE_STACKS_ROW && !records_u32(r, &out->row)))
        return false;
    r->node = r->next++;
    return r->next < RECORDS_NUMBERS;
}

/* Read the thread's slot in the block; *is_new: the slot gets a new thread. */
static bool records_thread(struct jsp_read_records *r, bool *is_new)
{
    uint32_t slot, pid, tid;
    if (!records_u32(r, &slot) || slot / 2 >= JSP_WIRE_STACKS_THREADS)
        return false;
    *is_new = slot & 1;
    r->thread = slot / 2;
    if (!*is_new)
        return r->thread < r->n_threads;
    if (r->thread > r->n_threads || !records_u32(r, &pid) || !records_u32(r, &tid))
        return false;
    r->n_threads += r->thread == r->n_threads;
    r->threads[r->thread].pid = (int32_t)pid;
    r->threads[r->thread].tid = (int32_t)tid;
    r->threads[r->thread].time = r->time;
    return true;
}

static bool records_weight(struct jsp_read_records *r, unsigned head, uint64_t elapsed,
                           struct jsp_read_packed *out)
{
    out->weight = head & JSP_WIRE_STACKS_WEIGHT;
    if ((!out->weight && !records_number(r, &out->weight)) ||
        !records_number(r, &out->cpu_ns))
        return false;
    if (!(head & JSP_WIRE_STACKS_CPU))
        out->cpu_ns = elapsed + jsp_varint_unfold(out->cpu_ns);
    return true;
}

static bool records_processor(struct jsp_read_records *r)
{
    uint64_t processor;
    if (!records_number(r, &processor) || processor > UINT16_MAX)
        return false;
    r->cpu = (int16_t)processor;
    return true;
}

static bool records_sample(struct jsp_read_records *r, unsigned head, struct read_record *out)
{
    struct jsp_read_packed *s = &out->sample;
    unsigned more = 0;
    uint64_t elapsed;
    bool is_new = false;
    if (head & JSP_WIRE_STACKS_MORE) {
        if (r->at == r->end)
            return false;
        more = *r->at++;
    }
    if (more & ~(unsigned)RECORDS_MORE ||
        (head & JSP_WIRE_STACKS_THREAD && !records_thread(r, &is_new)) || !r->n_threads ||
        !records_number(r, &elapsed) || !records_reference(r, &out->node) || !out->node)
        return false;
    elapsed = is_new ? jsp_varint_unfold(elapsed) : elapsed;
    r->threads[r->thread].time += elapsed;
    r->time = r->threads[r->thread].time;
    s->known = !(more & JSP_WIRE_STACKS_UNKNOWN);
    s->weight = 1;
    s->cpu_ns = s->cut = 0;
    s->state = (struct jsp_read_state){ 0 };
    s->task = s->labels = 0;
    if ((s->known && !records_weight(r, head, elapsed, s)) ||
        (more & JSP_WIRE_STACKS_CUT && !records_number(r, &s->cut)) ||
        (more & JSP_WIRE_STACKS_PROCESSOR && !records_processor(r)) ||
        (more & JSP_WIRE_STACKS_STATE && !jsp_embedded_state_get(&r->at, r->end, &s->state)) ||
        (more & JSP_WIRE_STACKS_TASK && !records_number(r, &s->task)) ||
        (more & JSP_WIRE_STACKS_LABELS && !records_number(r, &s->labels)))
        return false;
    s->tid = r->threads[r->thread].tid;
    out->pid = r->threads[r->thread].pid;
    out->time = (int64_t)r->time;
    out->cpu = r->cpu;
    return true;
}

bool jsp_read_records_next(struct jsp_read_records *r, struct read_record *out)
{
    unsigned head = *r->at++; /* the caller has checked that there is one */
    if (!(head & JSP_WIRE_STACKS_NODES)) {
        out->n_nodes = 0;
        return records_sample(r, head, out);
    }
    out->n_nodes = head & ~(unsigned)JSP_WIRE_STACKS_NODES;
    return out->n_nodes && records_reference(r, &out->node);
}
