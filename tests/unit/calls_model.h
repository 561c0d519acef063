/* calls_model.h - what calls come to, counted the plain way: after every event the time
 * since the last one is added to everything that is open. The model of calls_model_test.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CALLS_MODEL_H
#define CALLS_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    MODEL_IDS = 12,     /* functions, with the three that are always there */
    MODEL_STACKS = 4,   /* the thread's own, and coroutines */
    MODEL_DEPTH = 64,   /* entries of one stack */
    MODEL_OUTSIDE = 1,
    MODEL_COUNT = 1, MODEL_TIME = 2, MODEL_ALLOC = 4, MODEL_EDGES = 8,
};

struct model_cell {
    uint64_t calls, self_bytes, total_bytes;
    int64_t self, total;
};

struct model_entry {
    uint32_t id;
    uint32_t caller; /* over which edge it was called; 0: not known */
    bool known;      /* it is counted: not suspended while the modes changed */
    bool is_keyed;   /* the library can not find it on the stack */
};

struct model_stack {
    struct model_entry at[MODEL_DEPTH];
    uint32_t n;
    int resumer; /* -1: the thread's own stack, or suspended */
};

struct model {
    uint32_t modes;
    uint32_t gc_id; /* the function of kind GC */
    uint64_t last;
    int64_t cost[3], after; /* of enter, leave, other; of the last of them */
    struct model_cell rows[MODEL_IDS], edges[MODEL_IDS][MODEL_IDS];
    struct model_stack stacks[MODEL_STACKS];
    int running; /* index of the stack that runs */
    uint64_t own, gc, underflows, clock_back;
};

/* Each thing that is open, once: a function, an edge. */
struct model_open {
    bool rows[MODEL_IDS], edges[MODEL_IDS][MODEL_IDS];
    uint32_t top;
};

static inline bool model_needs_stack(const struct model *m)
{
    return m->modes & ~(uint32_t)MODEL_COUNT;
}

static inline void model_look(const struct model *m, struct model_open *open)
{
    memset(open, 0, sizeof *open);
    open->top = MODEL_OUTSIDE;
    for (int s = m->running; s >= 0; s = m->stacks[s].resumer) {
        const struct model_stack *stack = &m->stacks[s];
        for (uint32_t i = stack->n; i--;) {
            const struct model_entry *e = &stack->at[i];
            if (!e->known)
                continue;
            if (open->top == MODEL_OUTSIDE)
                open->top = e->id;
            open->rows[e->id] = true;
            open->edges[e->caller][e->id] = e->caller != 0;
        }
    }
}

static inline void model_pass(struct model *m, int64_t ticks, uint64_t bytes)
{
    struct model_open open;
    model_look(m, &open);
    for (int i = 0; i < MODEL_IDS; i++) {
        if (open.rows[i]) {
            m->rows[i].total += ticks;
            m->rows[i].total_bytes += bytes;
        }
        for (int k = 0; i && k < MODEL_IDS; k++) /* an edge 0 -> k is not known */
            m->edges[i][k].total += open.edges[i][k] ? ticks : 0;
    }
    m->rows[open.top].self += open.top != MODEL_OUTSIDE ? ticks : 0;
    m->rows[open.top].self_bytes += bytes;
    m->gc += open.rows[m->gc_id] ? (uint64_t)ticks : 0;
}

/* Since the last event and what counting it took. */
static inline int64_t model_passed(const struct model *m, uint64_t now)
{
    return (int64_t)(now - m->last) - m->after;
}

static inline void model_event(struct model *m, uint64_t now, int event)
{
    if (!(m->modes & MODEL_TIME))
        return;
    int64_t passed = model_passed(m, now), most = 0;
    for (int i = 0; i < 3; i++)
        most = m->cost[i] > most ? m->cost[i] : most;
    m->last = now;
    m->after = m->cost[event];
    m->own += (uint64_t)m->after;
    if (passed < -most)
        m->clock_back++;
    else
        model_pass(m, passed, 0);
}

/* Push an entry onto the running stack. */
static inline void model_push(struct model *m, uint32_t id)
{
    struct model_open open;
    struct model_stack *stack = &m->stacks[m->running];
    model_look(m, &open); /* of before */
    struct model_entry *e = &stack->at[stack->n++];
    *e = (struct model_entry){ .id = id, .known = model_needs_stack(m) };
    m->rows[id].calls += m->modes & MODEL_COUNT;
    if (m->modes & MODEL_EDGES) {
        e->caller = open.top;
        m->edges[open.top][id].calls++;
    }
}

/* The modes change: what is on the running stacks is taken in, the rest is not. */
static inline void model_modes(struct model *m, uint32_t modes, uint64_t now)
{
    if (modes == m->modes)
        return;
    int64_t passed = m->modes & MODEL_TIME ? model_passed(m, now) : 0;
    if (passed > 0)
        model_pass(m, passed, 0);
    m->modes = modes;
    m->last = now - (uint64_t)(passed < 0 ? passed : 0); /* never before what was told */
    m->after = 0;
    for (int s = 0; s < MODEL_STACKS; s++)
        for (uint32_t i = 0; i < m->stacks[s].n; i++)
            m->stacks[s].at[i].known = false;
    for (int s = m->running; s >= 0; s = m->stacks[s].resumer)
        for (uint32_t i = 0; i < m->stacks[s].n; i++) {
            m->stacks[s].at[i].known = model_needs_stack(m) && !m->stacks[s].at[i].is_keyed;
            m->stacks[s].at[i].caller = 0;
        }
}

#endif
