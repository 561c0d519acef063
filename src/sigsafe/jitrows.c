/* sigsafe/jitrows.c - see jitrows.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jitrows.h"

static uint64_t jitrows_get(const _Atomic uint64_t *word)
{
    /* ORDER: relaxed. The callers read between two loads of seq, or under the writers'
     * lock. */
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void jitrows_set(_Atomic uint64_t *word, uint64_t value)
{
    /* ORDER: relaxed. J2 publishes. */
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Return the number of ranges that start at or before pc. */
static uint32_t jitrows_until(const struct jsp_jitrows_slot *at, uint32_t n, uint64_t pc)
{
    uint32_t low = 0;
    while (low < n) {
        uint32_t mid = low + (n - low) / 2;
        if (jitrows_get(&at[mid].start) <= pc)
            low = mid + 1;
        else
            n = mid;
    }
    return low;
}

/* Store the last row at or before the offset. Return false before the first row. */
static bool jitrows_row(const struct jsp_jitrows_range *range, uint64_t offset,
                        jsprof_code_row *row)
{
    uint32_t low = 0, high = range->n_rows;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (range->rows[mid].offset <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low)
        return false;
    *row = range->rows[low - 1];
    return true;
}

/* Copy the range that holds pc. Return false if there is none, or if a writer is changing
 * the array. */
static bool jitrows_range(struct jsp_jitrows *rows, uint64_t pc,
                          struct jsp_jitrows_range *range)
{
    /* ORDER: acquire, pairs with J2: the slots are those of this number. */
    uint32_t seq = atomic_load_explicit(&rows->seq, memory_order_acquire);
    /* ORDER: acquire, pairs with the fence in jitrows_begin: `at`, loaded after it,
     * belongs to this number or a later one, so it has at least as many slots. */
    uint32_t n = atomic_load_explicit(&rows->n, memory_order_acquire);
    /* ORDER: acquire, pairs with J1: the array's contents are visible with its
     * address. */
    const struct jsp_jitrows_slot *at = atomic_load_explicit(&rows->at, memory_order_acquire);
    if (seq & 1 || !at)
        return false;
    uint32_t until = jitrows_until(at, n, pc);
    if (!until)
        return false;
    const struct jsp_jitrows_slot *slot = &at[until - 1];
    uint64_t counts = jitrows_get(&slot->counts);
    *range = (struct jsp_jitrows_range){
        jitrows_get(&slot->start), jitrows_get(&slot->end),
        (const jsprof_code_row *)(uintptr_t)jitrows_get(&slot->rows),
        (uint32_t)(counts >> 32), (uint32_t)counts,
    };
    /* ORDER: acquire fence: the loads above are done before the second load of seq. */
    atomic_thread_fence(memory_order_acquire); /* ORDER: as above */
    /* ORDER: relaxed, after the fence. */
    return atomic_load_explicit(&rows->seq, memory_order_relaxed) == seq && pc < range->end;
}

enum jsp_jitrows_answer jsp_jitrows_find(struct jsp_jitrows *rows, uint64_t pc,
                                         jsprof_code_row *row)
{
    struct jsp_jitrows_range range;
    if (!jitrows_range(rows, pc, &range))
        return JSP_JITROWS_NONE;
    if (!range.rows)
        return JSP_JITROWS_POINTER;
    return jitrows_row(&range, pc - range.start, row) ? JSP_JITROWS_ROW : JSP_JITROWS_NONE;
}

bool jsp_jitrows_label(struct jsp_jitrows *rows, uint64_t pc, uint32_t *label)
{
    struct jsp_jitrows_range range;
    if (!jitrows_range(rows, pc, &range))
        return false;
    *label = range.label;
    return true;
}

bool jsp_jitrows_bounds(struct jsp_jitrows *rows, uint64_t pc, struct jsp_frame_code *code)
{
    struct jsp_jitrows_range range;
    if (!jitrows_range(rows, pc, &range))
        return false;
    *code = (struct jsp_frame_code){ range.start, range.end };
    return true;
}

static void jitrows_begin(struct jsp_jitrows *rows)
{
    /* ORDER: relaxed. Writers hold a lock. */
    uint32_t seq = atomic_load_explicit(&rows->seq, memory_order_relaxed);
    /* ORDER: relaxed, with the fence after it: other threads see the odd number before
     * any change. */
    atomic_store_explicit(&rows->seq, seq + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* ORDER: as above */
}

static void jitrows_end(struct jsp_jitrows *rows)
{
    /* ORDER: relaxed. Writers hold a lock. */
    uint32_t seq = atomic_load_explicit(&rows->seq, memory_order_relaxed);
    /* J2. ORDER: release: other threads see the changes before the number is even
     * again. */
    atomic_store_explicit(&rows->seq, seq + 1, memory_order_release);
}

static void jitrows_copy(struct jsp_jitrows_slot *to, const struct jsp_jitrows_slot *from)
{
    jitrows_set(&to->start, jitrows_get(&from->start));
    jitrows_set(&to->end, jitrows_get(&from->end));
    jitrows_set(&to->rows, jitrows_get(&from->rows));
    jitrows_set(&to->counts, jitrows_get(&from->counts));
}

void jsp_jitrows_add(struct jsp_jitrows *rows, const struct jsp_jitrows_range *range)
{
    /* ORDER: relaxed, both. Writers hold a lock. */
    struct jsp_jitrows_slot *at = atomic_load_explicit(&rows->at, memory_order_relaxed);
    uint32_t n = atomic_load_explicit(&rows->n, memory_order_relaxed); /* ORDER: as above */
    uint32_t to = jitrows_until(at, n, range->start);
    jitrows_begin(rows);
    for (uint32_t i = n; i > to; i--)
        jitrows_copy(&at[i], &at[i - 1]);
    jitrows_set(&at[to].start, range->start);
    jitrows_set(&at[to].end, range->end);
    jitrows_set(&at[to].rows, (uint64_t)(uintptr_t)range->rows);
    jitrows_set(&at[to].counts, (uint64_t)range->n_rows << 32 | range->label);
    atomic_store_explicit(&rows->n, n + 1, memory_order_relaxed); /* ORDER: J2 publishes */
    jitrows_end(rows);
}

void jsp_jitrows_remove(struct jsp_jitrows *rows, uint64_t start)
{
    /* ORDER: relaxed, both. Writers hold a lock. */
    struct jsp_jitrows_slot *at = atomic_load_explicit(&rows->at, memory_order_relaxed);
    uint32_t n = atomic_load_explicit(&rows->n, memory_order_relaxed); /* ORDER: as above */
    uint32_t until = jitrows_until(at, n, start);
    if (!until || jitrows_get(&at[until - 1].start) != start)
        return;
    jitrows_begin(rows);
    for (uint32_t i = until; i < n; i++)
        jitrows_copy(&at[i - 1], &at[i]);
    atomic_store_explicit(&rows->n, n - 1, memory_order_relaxed); /* ORDER: J2 publishes */
    jitrows_end(rows);
}
