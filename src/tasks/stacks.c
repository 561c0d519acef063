/* tasks/stacks.c - the stack on which a task was made, taken once for each distinct stack. See
 * tasks.h for the contract.
 *
 * A stack is known by a hash of 64 bits over what makes its frames: names, lines, program
 * counters, native addresses, and for compiled code also its name, because its addresses serve
 * other functions later. Stack addresses are no part of it. Of a million distinct stacks, two
 * have the same hash with a probability of 3e-8. A full table begins anew: stacks that were
 * known then get a second number, and the file has them twice.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

#include "sigsafe/left.h"

enum { STACKS_MOST = JSP_TASKS_STACKS / 4 * 3 };

/* The addresses among which all compiled code lies. */
struct stacks_code {
    struct jsp_jitrows *rows;
    uint64_t low, high;
};

static struct stacks_code stacks_code_of(struct jsp_jitrows *rows)
{
    struct stacks_code code = { .rows = rows };
    /* ORDER: relaxed, all. A host adds code before it runs; the search checks `seq`. */
    uint32_t n = rows ? atomic_load_explicit(&rows->n, memory_order_relaxed) : 0;
    const struct jsp_jitrows_slot *at =
        n ? atomic_load_explicit(&rows->at, memory_order_acquire) : NULL; /* ORDER: acquire, n */
    if (!at)
        return code;
    code.low = atomic_load_explicit(&at[0].start, memory_order_relaxed); /* ORDER: relaxed */
    code.high = atomic_load_explicit(&at[n - 1].end, memory_order_relaxed); /* ORDER: relaxed */
    return code;
}

static uint64_t stacks_hash(const struct jsp_record *r, struct jsp_jitrows *rows)
{
    uint32_t n = jsp_record_frames(r), label;
    const struct jsp_rec_native *natives = jsp_record_natives(r);
    struct stacks_code code = stacks_code_of(rows);
    uint64_t h = jsp_tasks_mix(r->n_native, (uint64_t)n << 32 | r->cut);
    for (uint32_t i = 0; i < n; i++) {
        const struct jsp_rec_frame *f = &r->frames[i];
        h = jsp_tasks_mix(h, (uint64_t)f->id << 32 | f->line);
        h = jsp_tasks_mix(h, f->pc ^ (uint64_t)f->entry << 40 ^ (uint64_t)f->gap << 41);
    }
    for (uint32_t i = 0; i < r->n_native; i++) {
        h = jsp_tasks_mix(h, natives[i].ip);
        if (natives[i].ip >= code.low && natives[i].ip < code.high &&
            jsp_jitrows_label(code.rows, natives[i].ip, &label))
            h = jsp_tasks_mix(h, label);
    }
    return h ? h : 1;
}

/* Return the place of the hash, or a free one. The table is never full. */
static struct jsp_tasks_stack *stacks_find(struct jsp_tasks *k, uint64_t hash)
{
    if (k->n_stacks >= STACKS_MOST) {
        memset(k->stacks, 0, JSP_TASKS_STACKS * sizeof *k->stacks);
        k->n_stacks = 0;
    }
    uint64_t at = hash;
    while (k->stacks[at % JSP_TASKS_STACKS].hash &&
           k->stacks[at % JSP_TASKS_STACKS].hash != hash)
        at++; /* at most STACKS_MOST turns */
    return &k->stacks[at % JSP_TASKS_STACKS];
}

/* Put the stack of a new number into the ring of samples. Return the number, or 0. */
static uint64_t stacks_push(struct jsp_tasks *k, struct jsp_record *r)
{
    struct jsp_sampled *self = k->self;
    /* ORDER: relaxed. Only uniqueness counts. */
    uint64_t number =
        atomic_fetch_add_explicit(&k->shared->last_stack, 1, memory_order_relaxed) + 1;
    r->time_ns = jsp_now_ns(CLOCK_MONOTONIC);
    r->weight = 0;
    r->cpu_ns = 0;
    r->state = (struct jsp_rec_state){ 0 }; /* those of the last sample of time */
    r->waited = 0;
    r->task = 0;
    r->n_tags = 0;
    r->stack = (uint32_t)number;
    bool fits = (uint32_t)number && jsp_sampled_push(self, r);
    r->stack = 0; /* the handler uses the same record */
    if (!fits)
        jsp_count(&k->n_lost, 1);
    return fits ? number : 0;
}

static uint64_t stacks_number(struct jsp_tasks *k, bool is_paused)
{
    struct jsp_sampled *self = k->self;
    struct jsp_where where = { &k->asked, jsp_regs_sp(&k->asked), &k->asked.uc_stack, is_paused };
    jsp_sampled_frames(self, &where, NULL);
    jsp_record_drop(self->record);
    uint64_t hash = stacks_hash(self->record, self->unwinder.jit);
    struct jsp_tasks_stack *known = stacks_find(k, hash);
    if (known->hash)
        return known->number;
    uint64_t number = stacks_push(k, self->record);
    if (number) {
        *known = (struct jsp_tasks_stack){ hash, number };
        k->n_stacks++;
    }
    return number;
}

uint64_t jsp_tasks_stack(struct jsp_tasks *k)
{
    struct jsp_sampled *self = k->self;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is_paused = self->paused;
    if (jsp_stack_left(self, &k->asked.uc_stack, here, here) < jsp_stack_need(self) ||
        !jsp_sampled_enter(self))
        return 0;
    uint64_t number = stacks_number(k, is_paused);
    jsp_sampled_exit(self);
    return number;
}
