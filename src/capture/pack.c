/* capture/pack.c - see pack.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "pack.h"

#include <errno.h>
#include <string.h>

#include "embedded.h"

enum {
    PACK_NODE_MOST = 1 + JSP_VARINT_MAX + 5 + 5,
    PACK_RUN_HEAD = 1 + 5,
    PACK_RUN_MOST = 0x7f, /* nodes in one record */
    PACK_SAMPLE_MOST = 2 + 3 * 5 + 8 * JSP_VARINT_MAX + JSP_EMBEDDED_STATE,
};
_Static_assert(JSP_PACK_HEAD + JSP_PACK_BLOCK <= JSP_WIRE_MAX_CHUNK, "a block is a chunk");
_Static_assert(JSP_PACK_NODES > 2 * JSP_WIRE_MAX_ADDRS, "one stack fits a table");

int jsp_pack_init(struct jsp_pack *p)
{
    memset(p, 0, sizeof *p);
    int err = jsp_nodes_init(&p->nodes);
    p->limit = JSP_PACK_NODES;
    if (!err)
        jsp_pack_next(p);
    return err;
}

void jsp_pack_free(struct jsp_pack *p)
{
    jsp_nodes_free(&p->nodes);
}

void jsp_pack_next(struct jsp_pack *p)
{
    p->first = p->nodes.n;
    p->count = p->used = p->node = p->id = 0;
    p->addr = p->time = 0;
    p->cpu = -1;
    p->thread = p->n_threads = 0;
    memset(p->threads, 0, sizeof p->threads);
}

void jsp_pack_forget(struct jsp_pack *p)
{
    p->epoch++;
    jsp_nodes_clear(&p->nodes);
    jsp_pack_next(p);
}

/* -- Records ---------------------------------------------------------------- */

static void pack_byte(struct jsp_pack *p, unsigned byte)
{
    p->bytes[JSP_PACK_HEAD + p->used++] = (uint8_t)byte;
}

static void pack_varint(struct jsp_pack *p, uint64_t value)
{
    p->used += (uint32_t)jsp_varint_put(p->bytes + JSP_PACK_HEAD + p->used, value);
}

/* Write a node as its distance from the last one. */
static void pack_reference(struct jsp_pack *p, uint32_t node)
{
    pack_varint(p, jsp_varint_fold((uint64_t)node - p->node));
    p->node = node;
}

static size_t pack_room(const struct jsp_pack *p)
{
    return JSP_PACK_BLOCK - p->used;
}

static void pack_node(struct jsp_pack *p, const struct jsp_node *node)
{
    bool is_tagged = (node->addr & JSP_WIRE_JIT_MASK) == JSP_WIRE_JIT_TAG;
    pack_byte(p, (is_tagged ? JSP_WIRE_STACKS_TAGGED : 0u) |
                     (node->line ? JSP_WIRE_STACKS_LINE : 0u) |
                     (node->row ? JSP_WIRE_STACKS_ROW : 0u));
    if (is_tagged) {
        uint32_t id = (uint32_t)node->addr;
        pack_varint(p, jsp_varint_fold((uint64_t)(int64_t)(int32_t)(id - p->id)));
        p->id = id;
    } else {
        pack_varint(p, jsp_varint_fold(node->addr - p->addr));
        p->addr = node->addr;
    }
    if (node->line)
        pack_varint(p, node->line);
    if (node->row)
        pack_varint(p, node->row);
}

static struct jsp_node pack_frame(const struct jsp_pack_sample *s, uint32_t i,
                                  uint32_t parent)
{
    return (struct jsp_node){ .addr = s->addrs[i],
                              .parent = parent,
                              .line = s->lines ? s->lines[i] : 0,
                              .row = s->rows ? s->rows[i] : 0 };
}

/* Write frames [0, left) of the sample, which are new, below `parent`. */
static int pack_nodes(struct jsp_pack *p, const struct jsp_pack_sample *s, uint32_t parent,
                      uint32_t left)
{
    while (left) {
        size_t room = pack_room(p);
        if (room < PACK_RUN_HEAD + PACK_NODE_MOST)
            return -ENOBUFS;
        size_t fit = (room - PACK_RUN_HEAD) / PACK_NODE_MOST;
        uint32_t n = left < PACK_RUN_MOST ? left : PACK_RUN_MOST;
        n = n < fit ? n : (uint32_t)fit;
        if (jsp_nodes_reserve(&p->nodes, n) < 0)
            return -ENOMEM;
        pack_byte(p, JSP_WIRE_STACKS_NODES | n);
        pack_reference(p, parent);
        for (; n; n--) {
            struct jsp_node node = pack_frame(s, --left, parent);
            pack_node(p, &node);
            p->node = parent = jsp_nodes_add(&p->nodes, &node);
        }
    }
    return 0;
}

/* Return the slot of the thread in this block; *is_new: it had none. A new thread
 * replaces the oldest. */
static uint32_t pack_thread(struct jsp_pack *p, const struct jsp_pack_sample *s, bool *is_new)
{
    enum { MOST = JSP_WIRE_STACKS_THREADS };
    for (uint32_t i = 0; i < MOST && i < p->n_threads; i++)
        if (p->threads[i].pid == s->pid && p->threads[i].tid == s->tid) {
            *is_new = false;
            return i;
        }
    uint32_t slot = p->n_threads++ % MOST;
    p->threads[slot] = (struct jsp_pack_thread){ s->pid, s->tid, p->time };
    *is_new = true;
    return slot;
}

/* Return the flags for which the first byte has no bits. */
static unsigned pack_more(const struct jsp_pack *p, const struct jsp_pack_sample *s)
{
    return (s->cut ? JSP_WIRE_STACKS_CUT : 0u) |
           (s->cpu != p->cpu ? JSP_WIRE_STACKS_PROCESSOR : 0u) |
           (s->known ? 0u : JSP_WIRE_STACKS_UNKNOWN) |
           (s->state.state ? JSP_WIRE_STACKS_STATE : 0u) |
           (s->task ? JSP_WIRE_STACKS_TASK : 0u) | (s->labels ? JSP_WIRE_STACKS_LABELS : 0u);
}

static size_t pack_length(uint64_t value)
{
    uint8_t bytes[JSP_VARINT_MAX];
    return jsp_varint_put(bytes, value);
}

/* Return true if the CPU time itself is shorter than its difference to the elapsed time,
 * which is nearly 0 for a CPU-bound thread. */
static bool pack_cpu_is_plain(const struct jsp_pack_sample *s, uint64_t elapsed)
{
    return pack_length(s->cpu_ns) <= pack_length(jsp_varint_fold(s->cpu_ns - elapsed));
}

static void pack_sample(struct jsp_pack *p, const struct jsp_pack_sample *s, uint32_t node)
{
    bool is_new, is_other;
    uint32_t slot = pack_thread(p, s, &is_new);
    uint64_t elapsed = (uint64_t)s->time - p->threads[slot].time;
    bool is_plain = s->known && pack_cpu_is_plain(s, elapsed);
    bool fits = s->known && s->weight <= JSP_WIRE_STACKS_WEIGHT;
    unsigned more = pack_more(p, s);
    is_other = is_new || slot != p->thread;
    pack_byte(p, (fits ? (unsigned)s->weight : 0) | (is_other ? JSP_WIRE_STACKS_THREAD : 0u) |
                     (is_plain ? JSP_WIRE_STACKS_CPU : 0u) |
                     (more ? JSP_WIRE_STACKS_MORE : 0u));
    if (more)
        pack_byte(p, more);
    if (is_other)
        pack_varint(p, 2 * slot + is_new);
    if (is_new) {
        pack_varint(p, (uint32_t)s->pid);
        pack_varint(p, (uint32_t)s->tid);
    }
    pack_varint(p, is_new ? jsp_varint_fold(elapsed) : elapsed);
    pack_reference(p, node);
    if (s->known && (!fits || !s->weight))
        pack_varint(p, s->weight);
    if (s->known)
        pack_varint(p, is_plain ? s->cpu_ns : jsp_varint_fold(s->cpu_ns - elapsed));
    if (s->cut)
        pack_varint(p, s->cut);
    if (s->cpu != p->cpu)
        pack_varint(p, (uint16_t)s->cpu);
    if (s->state.state)
        p->used += (uint32_t)jsp_embedded_state_put(p->bytes + JSP_PACK_HEAD + p->used, &s->state);
    if (s->task)
        pack_varint(p, s->task);
    if (s->labels)
        pack_varint(p, s->labels);
    p->cpu = s->cpu;
    p->thread = slot;
    p->threads[slot].time = p->time = (uint64_t)s->time;
    p->count++;
}

int jsp_pack_stack(struct jsp_pack *p, const struct jsp_pack_sample *s, uint32_t *out)
{
    uint32_t node = 0, left = s->n, next;
    if (p->nodes.n + (uint64_t)s->n > p->limit)
        return -ENOSPC;
    for (; left; left--, node = next) {
        struct jsp_node frame = pack_frame(s, left - 1, node);
        next = jsp_nodes_find(&p->nodes, &frame);
        if (!next)
            break;
    }
    int err = pack_nodes(p, s, node, left);
    if (!err)
        *out = left ? p->node : node;
    return err;
}

int jsp_pack_at(struct jsp_pack *p, const struct jsp_pack_sample *s, uint32_t node)
{
    if (pack_room(p) < PACK_SAMPLE_MOST)
        return -ENOBUFS;
    pack_sample(p, s, node);
    return 0;
}

int jsp_pack_put(struct jsp_pack *p, const struct jsp_pack_sample *s)
{
    uint32_t node;
    int err = jsp_pack_stack(p, s, &node);
    if (err == -ENOSPC && p->used)
        return -ENOBUFS;
    if (err == -ENOSPC) {
        jsp_pack_forget(p);
        err = jsp_pack_stack(p, s, &node);
    }
    return err ? err : jsp_pack_at(p, s, node);
}

size_t jsp_pack_block(struct jsp_pack *p, const uint8_t **bytes)
{
    uint8_t head[JSP_PACK_HEAD] = { JSP_WIRE_BLOCK };
    size_t n = 1;
    if (!p->used)
        return 0;
    n += jsp_varint_put(head + n, p->epoch);
    n += jsp_varint_put(head + n, p->first);
    n += jsp_varint_put(head + n, p->count);
    *bytes = memcpy(p->bytes + JSP_PACK_HEAD - n, head, n);
    return n + p->used;
}
