/* session/function_lines.c - see function_lines.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "function_lines.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/hash.h"
#include "process.h"
#include "sigsafe/names.h"

enum { LINES_BUCKETS = 1024 };

static pthread_mutex_t lines_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The mutex protects these; lines_any is also read without it. A fork may copy any moment, so
 * one store adds rows to a bucket, and one removes them. */
static struct jsp_function_lines *_Atomic lines_buckets[LINES_BUCKETS];
static _Atomic bool lines_any; /* there were rows at some time */
static struct jsp_function_lines *lines_freed, **lines_freed_end = &lines_freed;
static size_t lines_freed_bytes;

static void lines_lock(void)
{
    jsp_process_renew();
    pthread_mutex_lock(&lines_mutex);
}

static void lines_unlock(void)
{
    pthread_mutex_unlock(&lines_mutex);
}

static struct jsp_function_lines *lines_get(struct jsp_function_lines *_Atomic *at)
{
    /* ORDER: relaxed. Under the lock. */
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void lines_put(struct jsp_function_lines *_Atomic *at, struct jsp_function_lines *l)
{
    /* ORDER: release, for the copy that a fork on another thread makes; no partner. */
    atomic_store_explicit(at, l, memory_order_release);
}

static struct jsp_function_lines *_Atomic *lines_bucket(const char *name, uint32_t len)
{
    return &lines_buckets[jsp_hash_bytes(0, name, len) >> 16 & (LINES_BUCKETS - 1)];
}

/* Return the newest rows of a name, or NULL. */
static struct jsp_function_lines *lines_find(const char *name, uint32_t len)
{
    struct jsp_function_lines *l = lines_get(lines_bucket(name, len));
    while (l && (l->name_len != len || memcmp(l->name, name, len) != 0))
        l = lines_get(&l->next);
    return l;
}

static size_t lines_bytes(const struct jsp_function_lines *l)
{
    return sizeof *l + l->n * sizeof *l->rows + l->name_len;
}

/* -- Rows of freed functions --------------------------------------------------- */

/* Remove rows from their bucket and free them. */
static void lines_free(struct jsp_function_lines *l)
{
    struct jsp_function_lines *_Atomic *at = lines_bucket(l->name, l->name_len);
    while (lines_get(at) != l)
        at = &lines_get(at)->next;
    lines_put(at, lines_get(&l->next));
    free(l);
}

/* Free the oldest rows without a holder until the others fit. A function may hold queued rows
 * again; they only leave the queue. */
static void lines_trim(void)
{
    while (lines_freed_bytes > JSP_FUNCTION_LINES_FREED) {
        struct jsp_function_lines *l = lines_freed;
        lines_freed = l->later;
        if (!lines_freed)
            lines_freed_end = &lines_freed;
        lines_freed_bytes -= lines_bytes(l);
        l->is_queued = false;
        if (!l->holders)
            lines_free(l);
    }
}

/* Give up one hold, with the lock held. NULL does nothing. */
static void lines_release(struct jsp_function_lines *l)
{
    if (!l || --l->holders || l->is_queued)
        return;
    l->is_queued = true;
    l->later = NULL;
    *lines_freed_end = l;
    lines_freed_end = &l->later;
    lines_freed_bytes += lines_bytes(l);
    lines_trim();
}

void jsp_function_lines_in_child(void)
{
    lines_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    lines_freed = NULL;
    lines_freed_end = &lines_freed;
    lines_freed_bytes = 0;
}

/* -- Functions ------------------------------------------------------------------ */

static struct jsp_function_lines *lines_new(const struct jsprof_function *f,
                                            const jsprof_code_line *rows, uint32_t n)
{
    struct jsp_function_lines *l = malloc(sizeof *l + n * sizeof *rows + f->len);
    if (!l)
        return NULL;
    *l = (struct jsp_function_lines){ .name_len = f->len, .n = n, .name = (char *)&l->rows[n] };
    memcpy(l->rows, rows, n * sizeof *rows);
    memcpy(l->name, f->text, f->len);
    return l;
}

static bool lines_equal(const struct jsp_function_lines *a, const struct jsp_function_lines *b)
{
    return a && a->n == b->n && memcmp(a->rows, b->rows, a->n * sizeof *a->rows) == 0;
}

/* Give the function a hold on these rows, or on equal ones, with the lock held. Return the rows
 * that are not needed, or NULL. */
static struct jsp_function_lines *lines_give(struct jsprof_function *f,
                                             struct jsp_function_lines *l)
{
    struct jsp_function_lines *newest = lines_find(f->text, f->len);
    bool is_same = lines_equal(newest, l);
    struct jsp_function_lines *kept = is_same ? newest : l;
    kept->holders++;
    if (!is_same) {
        struct jsp_function_lines *_Atomic *bucket = lines_bucket(f->text, f->len);
        lines_put(&l->next, lines_get(bucket));
        lines_put(bucket, l);
    }
    /* ORDER: release. In the child of a fork at this moment, rows of a function are in a bucket
     * and held. */
    atomic_thread_fence(memory_order_release);
    f->lines = kept;
    if (is_same)
        return l;
    /* ORDER: relaxed. A drain that does not see it yet finds no line, as before this call. */
    atomic_store_explicit(&lines_any, true, memory_order_relaxed);
    return NULL;
}

int jsp_function_lines_set(struct jsprof_function *f, const jsprof_code_line *rows, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (rows[i].offset <= rows[i - 1].offset)
            return -EINVAL;
    struct jsp_function_lines *l = n ? lines_new(f, rows, n) : NULL;
    if (n && !l)
        return -ENOMEM;
    lines_lock();
    struct jsp_function_lines *before = f->lines;
    f->lines = NULL;
    l = l ? lines_give(f, l) : NULL;
    lines_release(before);
    lines_unlock();
    free(l);
    return 0;
}

void jsp_function_lines_drop(struct jsprof_function *f)
{
    lines_lock();
    lines_release(f->lines);
    f->lines = NULL;
    lines_unlock();
}

static bool lines_is_up_to(const void *row, const void *pc)
{
    return ((const jsprof_code_line *)row)->offset <= *(const uint64_t *)pc;
}

uint32_t jsp_function_line(const char *name, uint32_t len, uint64_t pc)
{
    /* ORDER: relaxed. See lines_give. */
    if (!atomic_load_explicit(&lines_any, memory_order_relaxed))
        return 0;
    lines_lock();
    const struct jsp_function_lines *l = lines_find(name, len);
    size_t n = l ? jsp_bisect(l->rows, l->n, sizeof *l->rows, lines_is_up_to, &pc) : 0;
    uint32_t line = n ? l->rows[n - 1].line : 0;
    lines_unlock();
    return line;
}
