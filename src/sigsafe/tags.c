/* sigsafe/tags.c - see tags.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "room.h"

#include "tags.h"

static _Atomic uint64_t tags_strays;

uint64_t jsp_tags_stray(void)
{
    return jsp_counted(&tags_strays);
}

void jsp_tags_stray_add(void)
{
    /* ORDER: relaxed. A statistic. */
    atomic_fetch_add_explicit(&tags_strays, 1, memory_order_relaxed);
}

static uint32_t tags_from(const struct jsp_tags *g)
{
    return jsp_tags_now(g) >> JSP_TAGS_BITS & JSP_TAGS_MASK;
}

static uint32_t tags_buffer(const struct jsp_tags *g)
{
    return jsp_tags_now(g) >> 2 * JSP_TAGS_BITS;
}

/* Put bytes [from, used) of a buffer in force. */
static void tags_publish(struct jsp_tags *g, uint32_t buffer, uint32_t from, uint32_t used)
{
    uint32_t now = used - from;
    now |= from << JSP_TAGS_BITS | buffer << 2 * JSP_TAGS_BITS;
    g->used = used;
    /* T1. ORDER: release: the entries are stored before this thread's handler, or the looker,
     * reads the number that covers them. */
    atomic_store_explicit(&g->now, now, memory_order_release);
}

/* Return false if the caller is a signal handler that interrupted another call. */
static bool tags_enter(struct jsp_tags *g)
{
    if (g->is_inside) {
        jsp_count(&g->n_foreign, 1);
        return false;
    }
    g->is_inside = true;
    /* ORDER: signal fence only. The reader is a handler on this thread. */
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

static void tags_exit(struct jsp_tags *g)
{
    /* ORDER: signal fence only, as above. */
    atomic_signal_fence(memory_order_seq_cst);
    g->is_inside = false;
}

/* -- Copies ----------------------------------------------------------------- */

static uint32_t tags_put(uint8_t *to, uint32_t level, const struct jsp_tags_pair *pair)
{
    uint32_t n_value = pair->value ? (uint32_t)pair->n_value + 1 : 0;
    to[0] = (uint8_t)level;
    to[1] = (uint8_t)pair->n_key;
    to[2] = (uint8_t)n_value;
    to[3] = (uint8_t)(n_value >> 8);
    to += JSP_TAGS_HEAD;
    if (pair->n_key)
        memcpy(to, pair->key, pair->n_key);
    if (pair->value)
        memcpy(to + pair->n_key, pair->value, pair->n_value);
    return JSP_TAGS_HEAD + (uint32_t)pair->n_key + (n_value ? n_value - 1 : 0);
}

/* Read what the host shares. Outside of a handler its pointer is valid. */
static bool tags_read(const struct jsp_tags *g, struct jsp_memread *mem,
                      struct jsp_tags_shared *out)
{
    const void *record = NULL;
    const void *const volatile *shared = jsp_tags_shared_of(g);
    if (!mem) {
        record = *shared;
        if (record)
            memcpy(out, record, sizeof *out);
        return record;
    }
    jsp_memread_begin(mem, 0);
    return jsp_memread_bytes(mem, (uintptr_t)shared, &record, sizeof record) && record &&
           jsp_memread_bytes(mem, (uintptr_t)record, out, sizeof *out);
}

/* Append the trace that the host shares, if it is complete. Return its bytes. */
static uint32_t tags_shared(const struct jsp_tags *g, struct jsp_memread *mem, uint8_t *to)
{
    struct jsp_tags_shared at;
    static const uint8_t none[sizeof at.trace];
    if (!tags_read(g, mem, &at) || at.valid != 1 || memcmp(at.trace, none, sizeof none) == 0)
        return 0;
    const struct jsp_tags_pair pair = { .value = &at, .n_value = JSP_TAGS_TRACE };
    return tags_put(to, 0, &pair);
}

static bool tags_has_trace(const uint8_t *at, const uint8_t *end)
{
    struct jsp_tag tag;
    while (jsp_tag_next(&at, end, &tag)) /* at most JSP_TAGS_BYTES / JSP_TAGS_HEAD steps */
        if (!tag.n_key)
            return true;
    return false;
}

/* The sanitizer must not object to the looker's copy, which is dropped if the thread ran. */
__attribute__((no_sanitize_thread)) uint32_t jsp_tags_take(const struct jsp_tags *g,
                                                           struct jsp_memread *mem, uint8_t *to)
{
    uint32_t now = jsp_tags_now(g), n = now & JSP_TAGS_MASK;
    const uint8_t *at =
        g->bytes[now >> 2 * JSP_TAGS_BITS & 1] + (now >> JSP_TAGS_BITS & JSP_TAGS_MASK);
    if (n)
        memcpy(to, at, n);
    bool fits = n + JSP_TAGS_HEAD + JSP_TAGS_TRACE <= JSP_TAGS_BYTES;
    if (jsp_tags_shared_of(g) && fits && !tags_has_trace(to, to + n))
        n += tags_shared(g, mem, to + n);
    return n;
}

/* -- One label -------------------------------------------------------------- */

/* Cut a text to `most` bytes, before a character of UTF-8 that would be divided. */
static size_t tags_cut(struct jsp_tags *g, const void *text, size_t n, size_t most)
{
    const uint8_t *at = text;
    if (n <= most)
        return n;
    jsp_count(&g->n_cut, 1);
    size_t whole = most;
    while (whole > most - 3 && (at[whole] & 0xC0) == 0x80)
        whole--;
    return (at[whole] & 0xC0) == 0x80 ? most : whole;
}

/* Where a key is among the entries that are shown. */
struct tags_place {
    uint32_t begin, end; /* of its entry at the level of now; both `used`: none */
    bool is_outside;     /* at a lower level */
};

static struct tags_place tags_find(const struct jsp_tags *g, const struct jsp_tags_pair *pair)
{
    const uint8_t *bytes = g->bytes[tags_buffer(g)], *at = bytes + tags_from(g);
    struct tags_place place = { g->used, g->used, false };
    for (const uint8_t *begin = at; ; begin = at) {
        struct jsp_tag tag;
        if (!jsp_tag_next(&at, bytes + g->used, &tag))
            return place;
        if (tag.n_key != pair->n_key || memcmp(tag.key, pair->key, tag.n_key) != 0)
            continue;
        place.is_outside |= tag.level < g->level;
        if (tag.level == g->level) {
            place.begin = (uint32_t)(begin - bytes);
            place.end = (uint32_t)(at - bytes);
        }
    }
}

/* Without a place of its own the new entry goes after the others, where nobody reads yet.
 * Otherwise all go into the other buffer. */
static int tags_store(struct jsp_tags *g, const struct jsp_tags_pair *pair)
{
    struct tags_place place = tags_find(g, pair);
    uint32_t buffer = tags_buffer(g), from = tags_from(g), used = g->used;
    uint32_t gone = place.end - place.begin;
    size_t need = pair->value || place.is_outside || g->floor
                      ? JSP_TAGS_HEAD + pair->n_key + pair->n_value : 0;
    if (used - gone + need > JSP_TAGS_BYTES) {
        jsp_count(&g->n_full, 1);
        return -ENOSPC;
    }
    if (gone) {
        const uint8_t *old = g->bytes[buffer];
        uint8_t *new = g->bytes[buffer ^= 1];
        memcpy(new, old, place.begin);
        memcpy(new + place.begin, old + place.end, used - place.end);
        used -= gone;
    }
    if (need)
        used += tags_put(g->bytes[buffer] + used, g->level, pair);
    tags_publish(g, buffer, from, used);
    return 0;
}

static int tags_change(struct jsp_tags *g, const struct jsp_tags_pair *pair)
{
    struct jsp_tags_pair p = *pair;
    p.n_key = tags_cut(g, p.key, p.n_key, JSP_TAGS_KEY);
    p.n_value = p.value ? tags_cut(g, p.value, p.n_value, JSP_TAGS_VALUE) : 0;
    return tags_store(g, &p);
}

int jsp_tags_set(struct jsp_tags *g, const struct jsp_tags_pair *pair)
{
    if (!tags_enter(g))
        return -EBUSY;
    int err = tags_change(g, pair);
    tags_exit(g);
    return err;
}

/* -- Levels ----------------------------------------------------------------- */

uint32_t jsp_tags_push(struct jsp_tags *g, const struct jsp_tags_pair *pair)
{
    uint32_t before = g->level;
    if (!tags_enter(g))
        return before;
    if (before < JSP_TAGS_LEVELS) {
        g->level = before + 1;
        if (pair)
            tags_change(g, pair);
    } else if (pair) { /* it would cover the one of the level outside, and outlive its own */
        jsp_count(&g->n_full, 1);
    }
    tags_exit(g);
    return before;
}

void jsp_tags_pop(struct jsp_tags *g, uint32_t level)
{
    if (!tags_enter(g))
        return;
    if (level >= g->level || level < g->floor) {
        /* levels that are open in vain are one */
        if (level != JSP_TAGS_LEVELS)
            jsp_count(&g->n_unmatched, 1);
        tags_exit(g);
        return;
    }
    const uint8_t *bytes = g->bytes[tags_buffer(g)], *at = bytes + tags_from(g), *end = at;
    struct jsp_tag tag;
    while (jsp_tag_next(&at, bytes + g->used, &tag) && tag.level <= level)
        end = at;
    g->level = level;
    tags_publish(g, tags_buffer(g), tags_from(g), (uint32_t)(end - bytes));
    tags_exit(g);
}

struct jsp_tags_run jsp_tags_begin(struct jsp_tags *g, bool hides)
{
    struct jsp_tags_run run = { .is_open = false };
    if (!tags_enter(g))
        return run;
    run = (struct jsp_tags_run){ (uint16_t)tags_from(g), (uint16_t)g->used, (uint8_t)g->level,
                                 (uint8_t)g->floor, true };
    if (g->level < JSP_TAGS_LEVELS)
        g->level++;
    g->floor = g->level;
    if (hides && g->used)
        tags_publish(g, tags_buffer(g), g->used, g->used);
    tags_exit(g);
    return run;
}

void jsp_tags_end(struct jsp_tags *g, struct jsp_tags_run run)
{
    if (!run.is_open || !tags_enter(g))
        return;
    g->level = run.level;
    g->floor = run.floor;
    if (g->used != run.used || tags_from(g) != run.from)
        tags_publish(g, tags_buffer(g), run.from, run.used);
    tags_exit(g);
}

void jsp_tags_counts(const struct jsp_tags *g, struct jsp_tags_counts *out)
{
    *out = (struct jsp_tags_counts){ jsp_counted(&g->n_full), jsp_counted(&g->n_cut),
                                     jsp_counted(&g->n_foreign), jsp_counted(&g->n_unmatched) };
}
