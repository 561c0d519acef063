/* sigsafe/alloc.c - see alloc.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "left.h"
#include "sample.h"

/* -- Distances -------------------------------------------------------------- */

/* Return the natural logarithm of x > 0, with a relative error below 1e-12: libm is outside
 * of the room. */
static double alloc_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&x, &bits, sizeof x);
    if (x > 1.5) {
        x /= 2;
        exponent++;
    }
    double z = (x - 1) / (x + 1), square = z * z, power = z, sum = 0;
    for (int i = 1; i < 20; i += 2, power *= square)
        sum += power / i;
    return 2 * sum + exponent * 0.6931471805599453;
}

/* Draw the distance to the next sampled byte, and count the bytes before it. */
static void alloc_draw(struct jsp_sampled *self)
{
    struct jsp_alloc *a = &self->alloc;
    uint64_t random = jsp_tick_random(&a->random) >> 11; /* 53 bits */
    double share = (double)(random + 1) / 9007199254740992.0;
    int64_t distance = (int64_t)(-alloc_log(share) * (double)a->every);
    jsp_count(&a->drawn, (uint64_t)(distance - self->own.alloc_left));
    /* ORDER: relaxed. A statistic for other threads. */
    __atomic_store_n(&self->own.alloc_left, distance, __ATOMIC_RELAXED);
}

void jsp_alloc_open(struct jsp_sampled *self, struct jsp_alloc_table *table, uint64_t every)
{
    struct jsp_alloc *a = &self->alloc;
    a->table = table;
    a->every = every;
    a->random = (self->number ^ (uint64_t)(uintptr_t)self ^ jsp_now_ns(CLOCK_MONOTONIC)) *
                    0x9E3779B97F4A7C15u | 1;
    a->asked.uc_stack.ss_flags = SS_DISABLE;
    self->own.alloc_left = 0;
    alloc_draw(self);
}

/* -- The table -------------------------------------------------------------- */

static void alloc_home(struct jsp_alloc_table *t, uint32_t home, int by)
{
    /* ORDER: relaxed. The program itself orders the call that frees a block after the one
     * that allocated it. */
    __atomic_fetch_add(&t->homes[home], (uint8_t)by, __ATOMIC_RELAXED);
}

/* Return true if a slot may hold the address. NULL marks a free slot. */
static bool alloc_is_block(const void *block)
{
    return block && (uintptr_t)block != JSP_ALLOC_BUSY;
}

/* Remember a sampled block. Return false if its window is full. */
static bool alloc_keep(struct jsp_alloc_table *t, const void *block, uint64_t number)
{
    if (!alloc_is_block(block))
        return false;
    uint32_t home = jsprof_alloc_home(block);
    for (uint32_t i = home; i < home + JSP_ALLOC_WINDOW; i++) {
        uintptr_t none = 0;
        /* ORDER: acquire, pairs with A1: its last owner is done with the number. */
        if (!atomic_compare_exchange_strong_explicit(&t->slots[i].block, &none, JSP_ALLOC_BUSY,
                                                     memory_order_acquire,
                                                     memory_order_relaxed)) /* ORDER: above */
            continue;
        /* ORDER: relaxed, before A2. */
        atomic_store_explicit(&t->slots[i].number, number, memory_order_relaxed);
        alloc_home(t, home, 1);
        /* A2. ORDER: release: a thread that finds the block finds its number. */
        atomic_store_explicit(&t->slots[i].block, (uintptr_t)block, memory_order_release);
        return true;
    }
    return false;
}

/* Forget one sample of the block, and return its number, or 0 if there is none. */
static uint64_t alloc_take(struct jsp_alloc_table *t, const void *block)
{
    if (!alloc_is_block(block))
        return 0;
    uint32_t home = jsprof_alloc_home(block);
    for (uint32_t i = home; i < home + JSP_ALLOC_WINDOW; i++) {
        uintptr_t is = (uintptr_t)block;
        /* ORDER: acquire, pairs with A2. Of two threads that free it, one gets it. */
        if (!atomic_compare_exchange_strong_explicit(&t->slots[i].block, &is, JSP_ALLOC_BUSY,
                                                     memory_order_acquire,
                                                     memory_order_relaxed)) /* ORDER: above */
            continue;
        /* ORDER: relaxed, after A2 and before A1. */
        uint64_t number = atomic_load_explicit(&t->slots[i].number, memory_order_relaxed);
        alloc_home(t, home, -1);
        /* A1. ORDER: release: the number was read before another thread replaces it. */
        atomic_store_explicit(&t->slots[i].block, 0, memory_order_release);
        return number;
    }
    return 0;
}

/* -- Records ---------------------------------------------------------------- */

/* Push the record, and wake the drain when the ring becomes half full: a host may allocate
 * much in the time between two passes. */
static bool alloc_push(struct jsp_sampled *self, const struct jsp_record *r)
{
    uint32_t n_words = jsp_record_size(r);
    uint64_t half = self->ring.capacity / 2, before = jsp_ring_used(&self->ring);
    bool fits = jsp_sampled_push(self, r);
    if (before <= half && before + n_words >= half)
        jsp_ask_ring(self->ask);
    jsp_ask_note(self->ask);
    return fits;
}

static __attribute__((noinline)) bool alloc_record(struct jsp_sampled *self, const void *block,
                                                   size_t bytes, bool is_paused)
{
    struct jsp_alloc *a = &self->alloc;
    struct jsp_record *r = self->record;
    struct jsp_where where = { &a->asked, jsp_regs_sp(&a->asked), &a->asked.uc_stack,
                               is_paused };
    /* ORDER: relaxed. Only uniqueness counts. */
    uint64_t number = atomic_fetch_add_explicit(&a->table->numbers, 1, memory_order_relaxed) + 1;
    jsp_sampled_frames(self, &where, NULL);
    jsp_record_drop(r);
    r->time_ns = jsp_now_ns(CLOCK_MONOTONIC);
    r->weight = 0;
    r->cpu_ns = bytes;
    r->state = (struct jsp_rec_state){ 0 }; /* those of the last sample of time */
    r->waited = 0;
    r->n_tags = 0;
    if (jsp_tags_any(&self->tags))
        r->n_tags = (uint16_t)jsp_tags_take(&self->tags, &self->unwinder.mem, jsp_record_tags(r));
    r->number = number;
    bool fits = alloc_push(self, r);
    r->number = 0; /* the handler uses the same record */
    if (!fits)
        return false;
    if (!alloc_keep(a->table, block, number))
        jsp_count(&a->n_untold, 1);
    return true;
}

/* Reserve the record, as a backtrace does. Return false if it is in use or the session has
 * ended. */
static bool alloc_enter(struct jsp_sampled *self)
{
    if (!jsp_sampled_enter(self))
        return false;
    /* ORDER: seq_cst, see B1 in backtrace.c. */
    if (!atomic_load_explicit(&self->closed, memory_order_seq_cst))
        return true;
    jsp_sampled_exit(self);
    return false;
}

void jsp_alloc_sample(struct jsp_sampled *self, const void *block, size_t bytes)
{
    struct jsp_alloc *a = &self->alloc;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    bool is_paused = self->paused;
    alloc_draw(self);
    bool has_room = jsp_stack_left(self, &a->asked.uc_stack, here, here) >= jsp_stack_need(self);
    bool is_kept = false;
    if (has_room && alloc_enter(self)) {
        is_kept = alloc_record(self, block, bytes, is_paused);
        jsp_sampled_exit(self);
    }
    if (!is_kept)
        jsp_count(&a->n_lost, 1);
}

void jsp_alloc_freed(struct jsp_sampled *self, const void *block)
{
    struct jsp_alloc *a = &self->alloc;
    uint64_t number;
    /* The record is in use if a callback of the host's frees a block. The ring may then be in
     * the middle of a push. */
    bool is_entered = jsp_sampled_enter(self);
    /* ORDER: seq_cst, see B1 in backtrace.c. */
    bool is_closed = atomic_load_explicit(&self->closed, memory_order_seq_cst);
    /* at most one turn for each slot of the window: no other thread frees this block */
    while (!is_closed && (number = alloc_take(a->table, block)) != 0) {
        const struct jsp_record freed = { .time_ns = jsp_now_ns(CLOCK_MONOTONIC),
                                          .number = number };
        if (!is_entered || !alloc_push(self, &freed))
            jsp_count(&a->n_lost, 1);
    }
    if (is_entered)
        jsp_sampled_exit(self);
}

void jsp_alloc_moved(struct jsp_sampled *self, const void *from, const void *to)
{
    struct jsp_alloc *a = &self->alloc;
    uint64_t number;
    for (int i = 0; i < JSP_ALLOC_WINDOW; i++) {
        number = alloc_take(a->table, from);
        if (!number)
            return;
        if (!alloc_keep(a->table, to, number))
            jsp_count(&a->n_untold, 1);
    }
}
