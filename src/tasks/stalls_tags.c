/* tasks/stalls_tags.c - the labels of tasks in stall mode, until one is in a long turn.
 *
 * A set is a header and its bytes in whole words, at the place that one addition gave the thread.
 * Nobody waits, so a thread that is away between the addition and its stores may write into what
 * other threads have stored one turn of the ring later. The header has a hash of place and bytes:
 * a reader takes what agrees with it, and anything else is gone. Mixed bytes pass in one case of
 * 2^48.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tasks.h"

enum {
    TAGS_LENGTH = (1 << 16) - 1, /* bits of the header that have the number of bytes */
    TAGS_WORDS_MOST = JSP_TAGS_BYTES / 8,
};

static uint64_t tags_get(const struct jsp_stalls_table *table, uint64_t at)
{
    /* ORDER: relaxed. The hash in the header decides what belongs together; a reader that found the
     * place in a slot sees what was stored before. */
    return atomic_load_explicit(&table->tags[at % JSP_STALLS_TAGS], memory_order_relaxed);
}

static void tags_set(struct jsp_stalls_table *table, uint64_t at, uint64_t word)
{
    /* ORDER: relaxed. As above. */
    atomic_store_explicit(&table->tags[at % JSP_STALLS_TAGS], word, memory_order_relaxed);
}

/* Return the header of words at this place. */
static uint64_t tags_header(uint64_t at, const uint64_t *words, uint32_t n_bytes)
{
    uint64_t h = jsp_tasks_mix(at, n_bytes);
    for (uint32_t i = 0; i < (n_bytes + 7) / 8; i++)
        h = jsp_tasks_mix(h, words[i]);
    return (h & ~(uint64_t)TAGS_LENGTH) | n_bytes;
}

/* Places are counted from 1. */
uint64_t jsp_stalls_tags_now(struct jsp_tasks *k)
{
    struct jsp_stalls_table *table = k->shared->table;
    uint64_t words[TAGS_WORDS_MOST], last = k->stalls.tags_at;
    if (!jsp_tags_any(&k->self->tags))
        return 0;
    uint32_t n = jsp_tags_take(&k->self->tags, NULL, (uint8_t *)words), n_words = (n + 7) / 8;
    if (!n)
        return 0;
    memset((uint8_t *)words + n, 0, n_words * 8 - n);
    /* ORDER: relaxed. Only uniqueness counts. */
    uint64_t end = atomic_load_explicit(&table->n_tags, memory_order_relaxed);
    bool is_young = last && end - last < JSP_STALLS_TAGS / 2;
    if (is_young && tags_get(table, last) == tags_header(last, words, n))
        return last; /* the thread has the same ones as before */
    /* ORDER: relaxed. As above. */
    uint64_t at = atomic_fetch_add_explicit(&table->n_tags, 1 + n_words, memory_order_relaxed) + 1;
    tags_set(table, at, tags_header(at, words, n));
    for (uint32_t i = 0; i < n_words; i++)
        tags_set(table, at + 1 + i, words[i]);
    k->stalls.tags_at = at;
    return at;
}

uint32_t jsp_stalls_tags_get(const struct jsp_stalls_table *table, uint64_t at, uint8_t *to)
{
    uint64_t words[TAGS_WORDS_MOST], header = tags_get(table, at);
    uint32_t n = header & TAGS_LENGTH, n_words = (n + 7) / 8;
    if (n_words > TAGS_WORDS_MOST)
        return 0;
    for (uint32_t i = 0; i < n_words; i++)
        words[i] = tags_get(table, at + 1 + i);
    if (tags_header(at, words, n) != header)
        return 0;
    memcpy(to, words, n);
    return n;
}
