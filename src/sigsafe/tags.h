/* sigsafe/tags.h - the labels that the host has set on one thread: keys, values and the ids of a
 * trace.
 *
 * The owner thread stores them in one of two buffers, and publishes a buffer, or a part of it, by
 * one store. So its handler, which may interrupt the owner anywhere, copies either the labels
 * before a call or those after it, and never a mixture. The looker copies those of a thread that
 * sleeps, and drops the copy if the thread has run meanwhile.
 *
 * Entries have a level: `push` opens one and `pop` closes it with all entries inside. A run of a
 * task opens one, too, and hides what is outside. An entry covers those of its key before it.
 *
 *                       handler, looker   owner thread   session, drain
 *   jsp_tags_take             yes             yes              -
 *   jsp_tags_set               -              yes              -
 *   jsp_tags_push              -              yes              -
 *   jsp_tags_pop               -              yes              -
 *   jsp_tags_begin             -              yes              -
 *   jsp_tags_end               -              yes              -
 *   jsp_tags_counts            -               -              yes
 *   jsp_tags_stray             -               -              yes
 *   jsp_tags_stray_add        yes             yes             yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_TAGS_H
#define JSP_SIGSAFE_TAGS_H

#include "memread.h"

enum {
    JSP_TAGS_BYTES = 1024, /* of all entries of a thread */
    JSP_TAGS_KEY = 63,     /* longer keys and values are cut */
    JSP_TAGS_VALUE = 255,
    JSP_TAGS_TRACE = 16 + 8, /* the value of the entry without a key: trace and span */
    /* An entry: its level, the length of the key, that of the value + 1 (0: the key has no
     * value here) in two bytes, lower first; key; value. */
    JSP_TAGS_HEAD = 4,
    JSP_TAGS_LEVELS = 250,
};
_Static_assert(JSP_TAGS_BYTES % 8 == 0, "whole words in the ring");

/* An entry, in the buffer or in a copy of it. */
struct jsp_tag {
    const uint8_t *key, *value; /* value NULL: none */
    uint32_t n_key, n_value;    /* n_key 0: a trace */
    uint32_t level;
};

/* Read the entry at *at, and move *at after it. Return false at the end, and where the bytes are
 * no entry. */
static inline bool jsp_tag_next(const uint8_t **at, const uint8_t *end, struct jsp_tag *out)
{
    const uint8_t *head = *at;
    if (end - head < JSP_TAGS_HEAD)
        return false;
    uint32_t n_value = head[2] | (uint32_t)head[3] << 8;
    *out = (struct jsp_tag){ .level = head[0], .n_key = head[1],
                             .n_value = n_value ? n_value - 1 : 0 };
    out->key = head + JSP_TAGS_HEAD;
    out->value = n_value ? out->key + out->n_key : NULL;
    if ((size_t)(end - out->key) < (size_t)out->n_key + out->n_value)
        return false;
    *at = out->key + out->n_key + out->n_value;
    return true;
}

/* The draft standard of OpenTelemetry by which a program shows each thread's trace to profilers
 * (OTEP 4947): a thread-local pointer of this name, to such a record. */
#define JSP_TAGS_SHARED "otel_thread_ctx_v1"
struct jsp_tags_shared {
    uint8_t trace[16], span[8];
    uint8_t valid; /* 1: it is complete */
    uint8_t reserved;
    uint16_t attrs_bytes; /* of attributes after it, which are not read */
};
_Static_assert(sizeof(struct jsp_tags_shared) == 28, "as in the draft");

struct jsp_tags_counts {
    uint64_t full;    /* labels for which there was no room */
    uint64_t cut;     /* keys and values that were cut */
    uint64_t foreign; /* calls of a signal handler during such a call */
    uint64_t unmatched; /* pops of a level that is not open */
};

struct jsp_tags {
    /* Written by the owner: what is in force. Bits 0.. are the bytes that are shown, then where
     * they begin, then the buffer. */
    _Atomic uint32_t now;
    uint32_t used;  /* bytes of the buffer in force, shown or hidden */
    uint32_t level; /* of new entries */
    uint32_t floor; /* that of the innermost run: pop closes no lower one */
    volatile bool is_inside;
    _Atomic uint64_t n_full, n_cut, n_foreign, n_unmatched;

    /* The host's thread-local pointer, which belongs to the owner thread; NULL: there is none.
     * Set once, by the owner, when others may see the thread already. */
    const void *const volatile *_Atomic shared;

    uint8_t bytes[2][JSP_TAGS_BYTES];

    /* Always: shown bytes are [from, used) of the buffer in force; whole entries, whose levels
     * do not descend. */
};

enum { JSP_TAGS_BITS = 11, JSP_TAGS_MASK = (1 << JSP_TAGS_BITS) - 1 };
_Static_assert(JSP_TAGS_BYTES < 1 << JSP_TAGS_BITS, "a length fits its bits");

/* Return the word that says which labels are in force: buffer, first byte and end. */
static inline uint32_t jsp_tags_now(const struct jsp_tags *g)
{
    /* ORDER: acquire, pairs with the release in tags_publish. On the owner thread a signal fence
     * would do. */
    return atomic_load_explicit(&g->now, memory_order_acquire);
}

/* Return the thread-local pointer of the host, or NULL: there is none. */
static inline const void *const volatile *jsp_tags_shared_of(const struct jsp_tags *g)
{
    /* ORDER: relaxed. The pointer is all that is shared. */
    return atomic_load_explicit(&g->shared, memory_order_relaxed);
}

/* Return true if a sample of now has labels, or may have. */
static inline bool jsp_tags_any(const struct jsp_tags *g)
{
    return (jsp_tags_now(g) & JSP_TAGS_MASK) || jsp_tags_shared_of(g);
}

/* Copy the entries that are in force, with the trace that the host shares if it set none itself.
 * `to` has room for JSP_TAGS_BYTES. Return the number of bytes. Reads the host's memory by `mem`,
 * or plainly if that is NULL, on the owner thread outside of a handler. */
uint32_t jsp_tags_take(const struct jsp_tags *g, struct jsp_memread *mem, uint8_t *to);

struct jsp_tags_pair {
    const void *key;
    const void *value; /* NULL: the key has no value from now on */
    size_t n_key, n_value;
};

/* Set a label at the level of now, in place of one of the same key there. Return 0, -ENOSPC or
 * -EBUSY. Nothing is read after the call. */
int jsp_tags_set(struct jsp_tags *g, const struct jsp_tags_pair *pair);

/* Open a level, with a label unless `pair` is NULL. Return the level before, for jsp_tags_pop. */
uint32_t jsp_tags_push(struct jsp_tags *g, const struct jsp_tags_pair *pair);

/* Close all levels above `level`, and drop their labels. A level that is not open counts in
 * `n_unmatched`. */
void jsp_tags_pop(struct jsp_tags *g, uint32_t level);

/* What a run of a task found, to be restored at its end. */
struct jsp_tags_run {
    uint16_t from, used;
    uint8_t level, floor;
    bool is_open; /* false: the run began in a signal handler during another call */
};

/* Begin a run of a task and return what it found. With `hides` the run has labels of its own,
 * those of its task. */
struct jsp_tags_run jsp_tags_begin(struct jsp_tags *g, bool hides);

/* End the run: restore the labels that it found. */
void jsp_tags_end(struct jsp_tags *g, struct jsp_tags_run run);

/* Copy the counters. Any thread. */
void jsp_tags_counts(const struct jsp_tags *g, struct jsp_tags_counts *out);

/* Return how many calls in this process had a handle that is not of an attached thread, or is
 * of another one, whose memory may be gone. */
uint64_t jsp_tags_stray(void);

/* Count one more such call. */
void jsp_tags_stray_add(void);

#endif
