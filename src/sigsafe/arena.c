/* sigsafe/arena.c - see arena.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "arena.h"

static const char arena_lost_text[] = "[label lost]";

/* Eight bytes per step, multiply and fold; the tail is padded with zeros. */
static uint32_t arena_hash(const char *text, uint32_t len, uint8_t kind)
{
    uint64_t h = 0x9E3779B97F4A7C15u * (len + 1u) ^ kind;
    for (uint32_t at = 0; at < len; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text + at, len - at < 8 ? len - at : 8);
        h = (h ^ word) * 0xFF51AFD7ED558CCDu;
        h ^= h >> 32;
    }
    h *= 0xC4CEB9FE1A85EC53u;
    return (uint32_t)(h >> 32);
}

/* Append an entry that no thread knows yet. Return JSP_LABEL_LOST if there is no room. */
static uint32_t arena_append(struct jsp_arena *arena, const struct jsp_label *head,
                             const char *text)
{
    uint64_t need = (sizeof *head + head->len + 1u + 7u) & ~(uint64_t)7;
    /* ORDER: relaxed. The check only bounds the growth of `used` past the end. */
    if (atomic_load_explicit(&arena->used, memory_order_relaxed) + need > arena->capacity)
        return JSP_LABEL_LOST;
    /* ORDER: relaxed. The addition alone reserves the region for this thread; the slot
     * publishes its contents. */
    uint64_t at = atomic_fetch_add_explicit(&arena->used, need, memory_order_relaxed);
    if (at + need > arena->capacity)
        return JSP_LABEL_LOST;
    struct jsp_label *label = (struct jsp_label *)(void *)(arena->bytes + at);
    *label = *head;
    memcpy(label->text, text, head->len);
    label->text[head->len] = 0;
    return (uint32_t)(at / 8);
}

static bool arena_same(const struct jsp_arena *arena, uint32_t id,
                       const struct jsp_label *head, const char *text)
{
    const struct jsp_label *label = jsp_arena_label(arena, id);
    return label->len == head->len && label->kind == head->kind &&
           memcmp(label->text, text, head->len) == 0;
}

void jsp_arena_init(struct jsp_arena *arena, const struct jsp_arena_memory *memory)
{
    struct jsp_label lost = { .len = sizeof arena_lost_text - 1, .kind = JSPROF_KIND_SYNTH };
    arena->bytes = memory->bytes;
    arena->capacity = memory->n_bytes;
    arena->slots = memory->slots;
    arena->n_slots = memory->n_slots;
    atomic_init(&arena->used, 0);
    atomic_init(&arena->n_labels, 0);
    atomic_init(&arena->n_lost, 0);
    arena_append(arena, &lost, arena_lost_text); /* gets offset 0: JSP_LABEL_LOST */
}

static uint32_t arena_give_up(struct jsp_arena *arena)
{
    /* ORDER: relaxed. A statistic. */
    atomic_fetch_add_explicit(&arena->n_lost, 1, memory_order_relaxed);
    return JSP_LABEL_LOST;
}

uint32_t jsp_arena_intern(struct jsp_arena *arena, const char *text, uint32_t len, uint8_t kind)
{
    struct jsp_label head = { arena_hash(text, len, kind), (uint16_t)len, kind, 0 };
    uint32_t mine = JSP_LABEL_LOST;

    for (uint32_t probe = 0; probe < JSP_ARENA_PROBES; probe++) {
        _Atomic uint64_t *slot = &arena->slots[(head.hash + probe) & (arena->n_slots - 1)];
        /* ORDER: acquire, pairs with A1. The entry that the slot names is visible. */
        uint64_t seen = atomic_load_explicit(slot, memory_order_acquire);
        if (!seen) {
            if (!mine)
                mine = arena_append(arena, &head, text);
            if (!mine)
                return arena_give_up(arena);
            /* A1. ORDER: release, so that a thread which finds the slot sees the entry;
             * acquire on failure, to read the winner's entry. */
            if (atomic_compare_exchange_strong_explicit(
                    slot, &seen, (uint64_t)head.hash << 32 | mine,
                    memory_order_release, memory_order_acquire)) { /* ORDER: A1 */
                /* ORDER: relaxed. A statistic. */
                atomic_fetch_add_explicit(&arena->n_labels, 1, memory_order_relaxed);
                return mine;
            }
        }
        if (seen >> 32 == head.hash && arena_same(arena, (uint32_t)seen, &head, text))
            return (uint32_t)seen;
    }
    return arena_give_up(arena);
}
