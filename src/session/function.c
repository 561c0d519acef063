/* session/function.c - see function.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "function.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "function_lines.h"
#include "process.h"
#include "sigsafe/names.h"

static _Atomic uint64_t function_serials;

static pthread_mutex_t function_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The mutex protects these, except that function_table is also read without it. A fork
 * may copy any moment: so each change is consistent at every step, and at worst the child
 * loses an index. */
static struct jsprof_function *_Atomic function_table[JSP_FUNCTION_IDS];
/* indices below it are in use or spare */
static uint32_t function_used = JSP_FUNCTION_FIRST;
/* owned: indices given back; it grows, and is never freed */
static uint32_t *function_spare;
static uint32_t function_n_spare, function_spare_capacity;
static uint32_t function_holds;
/* functions kept for the tables, linked by `next` */
static struct jsprof_function *function_freed;

static struct jsprof_function function_known[JSP_FUNCTION_FIRST] = {
    { .index = JSP_FUNCTION_OTHER, .text = (char[]){ "[other functions]" }, .len = 17,
      .name_len = 17, .kind = JSPROF_KIND_SYNTH },
    { .index = JSP_FUNCTION_OUTSIDE, .text = (char[]){ "[outside]" }, .len = 9,
      .name_len = 9, .kind = JSPROF_KIND_SYNTH },
    { .index = JSP_FUNCTION_NONE, .text = (char[]){ "[no function]" }, .len = 13,
      .name_len = 13, .kind = JSPROF_KIND_SYNTH },
};

static void function_lock(void)
{
    jsp_process_renew();
    pthread_mutex_lock(&function_mutex);
}

static void function_unlock(void)
{
    pthread_mutex_unlock(&function_mutex);
}

/* -- Indices ---------------------------------------------------------------- */

/* Clear the seal by a store that no compiler removes, because a link may still name the
 * function. */
static void function_release(struct jsprof_function *f)
{
    *(volatile uint64_t *)&f->seal = 0;
    free(f);
}

/* Order two stores, on which the child of a fork relies. */
static void function_step(void)
{
    /* ORDER: release, for the copy that a fork on another thread makes; no partner. */
    atomic_thread_fence(memory_order_release);
}

/* Make room to give back every index in use, so that a free cannot fail. */
static bool function_has_room(void)
{
    if (function_used < function_spare_capacity)
        return true;
    uint32_t n = function_spare_capacity ? function_spare_capacity * 2 : 1024;
    uint32_t *more = malloc(n * sizeof *more), *old = function_spare;
    if (!more)
        return false;
    if (old)
        memcpy(more, old, function_spare_capacity * sizeof *more);
    function_spare = more;
    function_step();
    function_spare_capacity = n;
    free(old);
    return true;
}

static void function_put(struct jsprof_function *f)
{
    function_lock();
    if (function_n_spare && !function_holds)
        f->index = function_spare[--function_n_spare];
    else if (function_used < JSP_FUNCTION_IDS && function_has_room())
        f->index = function_used++;
    f->cell = f->kind == JSPROF_KIND_GC ? 0 : f->index * JSP_FUNCTION_CELL;
    /* F1. ORDER: release, pairs with jsp_function_at: the function is complete. */
    if (f->index)
        atomic_store_explicit(&function_table[f->index], f, memory_order_release);
    function_unlock();
}

/* Take back a function's index, with the lock held. */
static void function_take(struct jsprof_function *f)
{
    if (!f->index)
        return;
    /* ORDER: relaxed. No session counts, so no thread reads the table. */
    atomic_store_explicit(&function_table[f->index], NULL, memory_order_relaxed);
    function_spare[function_n_spare] = f->index;
    function_step();
    function_n_spare++;
}

const struct jsprof_function *jsp_function_at(uint32_t index)
{
    if (index < JSP_FUNCTION_FIRST)
        return &function_known[index];
    /* ORDER: acquire, pairs with F1. */
    return atomic_load_explicit(&function_table[index], memory_order_acquire);
}

void jsp_function_hold(void)
{
    function_lock();
    function_holds++;
    function_unlock();
}

void jsp_function_drop(void)
{
    struct jsprof_function *freed = NULL;
    function_lock();
    if (--function_holds == 0) {
        freed = function_freed;
        function_freed = NULL;
        for (struct jsprof_function *f = freed; f; f = f->next)
            function_take(f);
    }
    function_unlock();
    for (struct jsprof_function *next; freed; freed = next) {
        next = freed->next;
        function_release(freed);
    }
}

/* Kept functions stay until a session of the child's drops its hold. Nothing may be freed
 * here, because a signal handler that forks may have interrupted malloc. */
void jsp_function_in_child(void)
{
    function_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    function_holds = 0;
    jsp_function_lines_in_child();
}

/* -- Functions -------------------------------------------------------------- */

/* Format "name", "name (file)" or "name (file:line)", cut to the length of a label. */
static int function_format(char *to, size_t size, const struct jsp_function_def *def)
{
    if (!def->file || !*def->file)
        return snprintf(to, size, "%s", def->name);
    if (!def->line)
        return snprintf(to, size, "%s (%s)", def->name, def->file);
    return snprintf(to, size, "%s (%s:%u)", def->name, def->file, (unsigned)def->line);
}

int jsp_function_new(struct jsprof_function **out, const struct jsp_function_def *def)
{
    char text[JSP_LABEL_MAX + 1];
    int len = *def->name ? function_format(text, sizeof text, def) : 0;
    if (len <= 0)
        return -EINVAL;
    uint32_t kept = len < JSP_LABEL_MAX ? (uint32_t)len : JSP_LABEL_MAX;

    struct jsprof_function *f = calloc(1, sizeof *f + kept + 1);
    if (!f)
        return -ENOMEM;
    f->text = (char *)(f + 1);
    memcpy(f->text, text, kept);
    f->text[kept] = 0;
    f->len = kept;
    f->line = def->line;
    f->kind = (uint8_t)def->kind;
    f->cut = len > JSP_LABEL_MAX;
    /* the parts of the text, which may be cut */
    size_t name = strnlen(def->name, kept), from = name + 2;
    f->name_len = (uint16_t)name;
    f->file_len = def->file && from < kept ? (uint16_t)strnlen(def->file, kept - from) : 0;
    /* ORDER: relaxed. Only uniqueness matters. */
    f->serial = atomic_fetch_add_explicit(&function_serials, 1, memory_order_relaxed) + 1;
    f->seal = jsp_function_seal(f, f->serial);
    atomic_init(&f->holders, 1);
    function_put(f);
    *out = f;
    return 0;
}

void jsp_function_ref(struct jsprof_function *f)
{
    /* ORDER: relaxed. The caller has a hold, so the last one can not end meanwhile. */
    atomic_fetch_add_explicit(&f->holders, 1, memory_order_relaxed);
}

bool jsp_function_is_shared(const struct jsprof_function *f)
{
    /* ORDER: relaxed. As above. */
    return atomic_load_explicit(&f->holders, memory_order_relaxed) > 1;
}

void jsp_function_free(struct jsprof_function *f)
{
    /* ORDER: acq_rel, with itself: the last holder frees after all others are done. */
    if (!f || atomic_fetch_sub_explicit(&f->holders, 1, memory_order_acq_rel) > 1)
        return;
    jsp_function_lines_drop(f);
    function_lock();
    bool kept = function_holds && f->index;
    if (kept) {
        f->next = function_freed;
        function_step();
        function_freed = f;
    } else {
        function_take(f);
    }
    function_unlock();
    if (!kept)
        function_release(f);
}
