/* jit.c - which functions become native code, for how long, and how they are run.
 *
 * SPDX-License-Identifier: MIT
 */
#include "jit.h"

#include "heap.h"
#include "pool.h"
#include "profile.h"
#include "template.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    JIT_ALIGN = 16,
    JIT_CODE_MOST = 1 << 19, /* so that every jump reaches */
    JIT_MOST_DOUBLED = 20,
};

/* The native code of one function. */
struct lark_native {
    struct lark_native *next;
    struct lark_function *f;
    uint32_t at; /* in the pool */
    uint32_t bytes;
    uint32_t active; /* activations on the C stack; not 0: must not be discarded */
    uint32_t *entries; /* owned: where each operation begins */
};

struct lark_jit {
    struct lark_pool pool;
    uint32_t threshold;
    bool no_rows;
    struct lark_native *natives;
    uint64_t n_compiled, n_discarded, n_refused;
};

typedef bool (*jit_native_fn)(struct lark *l, struct lark_value *slots,
                              const void *entry);

bool lark_jit_open(struct lark *l, const struct lark_jit_options *options)
{
    struct lark_jit *jit = lark_heap_resize(NULL, sizeof(*jit));
    *jit = (struct lark_jit){ .threshold = options->threshold, .no_rows = options->no_rows };
    if (!lark_pool_open(&jit->pool, options->cache_bytes)) {
        free(jit);
        return false;
    }
    l->jit = jit;
    return true;
}

/* Remove it from the list at *from; its memory may be used again. */
static void jit_discard(struct lark_jit *jit, struct lark_native **from)
{
    struct lark_native *native = *from;
    *from = native->next;
    lark_profile_code_removed(jit->pool.run + native->at);
    native->f->native = NULL;
    native->f->heat = 0;
    jit->n_discarded++;
    free(native->entries);
    free(native);
}

void lark_jit_close(struct lark *l)
{
    if (!l->jit)
        return;
    while (l->jit->natives)
        jit_discard(l->jit, &l->jit->natives);
    lark_pool_close(&l->jit->pool);
    free(l->jit);
    l->jit = NULL;
}

/* Return the end of the first native function that is running in [at, at + bytes), else
 * 0. */
static uint32_t jit_blocked(const struct lark_jit *jit, uint32_t at, uint32_t bytes)
{
    for (const struct lark_native *n = jit->natives; n; n = n->next)
        if (n->active && n->at < at + bytes && at < n->at + n->bytes)
            return n->at + n->bytes;
    return 0;
}

/* Find room in the ring, after the last piece and not over a running function. */
static bool jit_find_room(struct lark_jit *jit, uint32_t bytes, uint32_t *out)
{
    uint32_t at = jit->pool.next;
    for (int rounds = 0; rounds < 2;) {
        if (bytes > jit->pool.bytes - at) {
            at = 0;
            rounds++;
            if (bytes > jit->pool.bytes)
                return false;
        }
        uint32_t past = jit_blocked(jit, at, bytes);
        if (!past) {
            *out = at;
            return true;
        }
        at = past;
    }
    return false;
}

static void jit_make_room(struct lark_jit *jit, uint32_t at, uint32_t bytes)
{
    struct lark_native **from = &jit->natives;
    while (*from) {
        if ((*from)->at < at + bytes && at < (*from)->at + (*from)->bytes)
            jit_discard(jit, from);
        else
            from = &(*from)->next;
    }
}

static void jit_register(struct lark_jit *jit, const struct lark_native *native,
                         const struct lark_template *t)
{
    struct lark_profile_code code = {
        .start = jit->pool.run + native->at,
        .length = t->code.n,
        .function = native->f->profile,
        .lines = t->lines,
        .n_lines = t->n_lines,
        .rows = t->code.rows,
        .n_rows = jit->no_rows ? 0 : t->code.n_rows,
        .pcs = t->pcs,
        .n_pcs = native->f->n_ops,
    };
    lark_profile_code_added(&code);
}

static bool jit_install(struct lark_jit *jit, struct lark_function *f,
                        struct lark_template *t)
{
    uint32_t at, bytes = (t->code.n + JIT_ALIGN - 1) / JIT_ALIGN * JIT_ALIGN;
    if (bytes > JIT_CODE_MOST || !jit_find_room(jit, bytes, &at))
        return false;
    jit_make_room(jit, at, bytes);
    if (!lark_pool_write(&jit->pool, at, t->code.bytes, t->code.n))
        return false;
    jit->pool.next = at + bytes;
    struct lark_native *native = lark_heap_resize(NULL, sizeof(*native));
    *native = (struct lark_native){
        .next = jit->natives, .f = f, .at = at, .bytes = bytes, .entries = t->entries,
    };
    t->entries = NULL;
    jit->natives = f->native = native;
    jit_register(jit, native, t);
    jit->n_compiled++;
    return true;
}

/* Try again later, after a longer time for each failure. */
static bool jit_compile(struct lark_jit *jit, struct lark_function *f)
{
    struct lark_profile_frame frame;
    struct lark_template t;
    lark_profile_enter_work(&frame, LARK_PROFILE_COMPILE);
    bool ok = lark_template_make(&t, f) && jit_install(jit, f, &t);
    lark_template_free(&t);
    lark_profile_leave(&frame);
    jit->n_refused += !ok;
    f->refused = ok ? 0 : f->refused + 1;
    f->heat = 0;
    return ok;
}

static bool jit_is_hot(const struct lark_jit *jit, const struct lark_function *f)
{
    uint32_t doubled = f->refused < JIT_MOST_DOUBLED ? f->refused : JIT_MOST_DOUBLED;
    return f->heat >= (uint64_t)jit->threshold << doubled;
}

bool lark_jit_ready(struct lark *l, struct lark_function *f)
{
    if (!l->jit)
        return false;
    if (f->native)
        return true;
    f->heat += f->heat < UINT32_MAX;
    return jit_is_hot(l->jit, f) && jit_compile(l->jit, f);
}

LARK_LOOP bool lark_jit_run(struct lark *l, struct lark_function *f,
                            struct lark_value *slots, uint32_t op)
{
    struct lark_native *native = f->native;
    const uint8_t *code = l->jit->pool.run + native->at;
    jit_native_fn run = (jit_native_fn)(uintptr_t)code;
    native->active++;
    bool ok = run(l, slots, code + native->entries[op]);
    native->active--;
    return ok;
}

void lark_jit_print_stats(const struct lark *l)
{
    if (!l->jit) {
        fprintf(stderr, "lark: jit: off\n");
        return;
    }
    uint64_t bytes = 0;
    for (const struct lark_native *n = l->jit->natives; n; n = n->next)
        bytes += n->bytes;
    fprintf(stderr,
            "lark: jit: %llu compiled, %llu discarded, %llu refused, "
            "%llu of %u bytes in use\n",
            (unsigned long long)l->jit->n_compiled,
            (unsigned long long)l->jit->n_discarded,
            (unsigned long long)l->jit->n_refused, (unsigned long long)bytes,
            l->jit->pool.bytes);
}
