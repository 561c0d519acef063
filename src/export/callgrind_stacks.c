/* export/callgrind_stacks.c - Callgrind's functions and calls from sampled stacks.
 *
 * A stack counts once for a function and for a call, from the outermost occurrence,
 * however often they are on it. Samples do not know how often a call was made; the number
 * of samples with the call takes its place.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdlib.h>

#include "callgrind.h"
#include "shown_names.h"
#include "analyze/name_parts.h"

/* A call between two functions, from any line. */
struct stacks_pair {
    uint32_t caller, callee;
    uint32_t seen; /* number + 1 of the last stack with it */
};

struct stacks_build {
    struct callgrind *to;
    struct jsp_export *e;
    struct jsp_hash calls, selves, by_pair;
    struct stacks_pair *pairs;
    uint32_t n_pairs, pairs_room;
    uint32_t *of_function, *of_thread; /* position in to->functions + 1 */
    uint32_t *seen_function; /* number + 1 of the last stack with it */
    uint32_t of_room, seen_room;
    uint32_t n_of, n_seen;
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
};

/* Extend the array to at least this many items, with zeros. */
static int stacks_reach(uint32_t **array, uint32_t *room, uint32_t *n, uint32_t least)
{
    while (*n < least) {
        if (jsp_grow(array, room, *n, sizeof **array) < 0)
            return -ENOMEM;
        (*array)[(*n)++] = 0;
    }
    return 0;
}

/* -- Functions -------------------------------------------------------------- */

static struct jsp_read_text stacks_text(const char *text)
{
    return (struct jsp_read_text){ text, (uint32_t)strlen(text) };
}

/* Find or add a function. The file of native code is that of its first known line. */
static int stacks_function(struct stacks_build *b, const struct jsp_profile_frame *frame,
                           uint32_t *out)
{
    const struct jsp_profile *p = b->e->profile;
    if (stacks_reach(&b->of_function, &b->of_room, &b->n_of, frame->function + 1) < 0)
        return -ENOMEM;
    if (!b->of_function[frame->function]) {
        const struct jsp_function *from = &p->functions[frame->function];
        struct jsp_name_parts parts = jsp_name_split(from->name);
        struct callgrind_function *f = callgrind_function_add(b->to);
        if (!f)
            return -ENOMEM;
        f->name = parts.name;
        f->file = frame->file ? stacks_text(p->files[frame->file]) : parts.file;
        f->line = parts.line;
        f->object = stacks_text(from->module);
        b->of_function[frame->function] = b->to->n_functions;
    }
    *out = b->of_function[frame->function] - 1;
    return 0;
}

/* Find or add a thread's function, "[thread NAME]". */
static int stacks_thread(struct stacks_build *b, uint32_t thread, uint32_t *out)
{
    if (!b->of_thread[thread]) {
        struct jsp_bytes name = { 0 };
        struct jsp_sink *sink = malloc(sizeof *sink);
        if (!sink)
            return -ENOMEM;
        jsp_sink_init(sink, jsp_bytes_write, &name);
        jsp_sink_text(sink, "[thread ");
        jsp_shown_thread(sink, b->e->profile, thread, 0);
        jsp_sink_byte(sink, ']');
        int err = jsp_sink_flush(sink);
        char *text = err ? NULL : jsp_store_text(&b->to->store, name.at, name.n);
        struct callgrind_function *f = text ? callgrind_function_add(b->to) : NULL;
        if (f)
            f->name = (struct jsp_read_text){ text, (uint32_t)name.n };
        jsp_bytes_free(&name);
        free(sink);
        if (!f)
            return -ENOMEM;
        b->of_thread[thread] = b->to->n_functions;
    }
    *out = b->of_thread[thread] - 1;
    return 0;
}

/* -- Costs ------------------------------------------------------------------ */

/* Return 1 if this call is on the stack for the first time, 0 if not, or -ENOMEM. */
static int stacks_first(struct stacks_build *b, uint32_t caller, uint32_t callee, uint32_t stack)
{
    uint64_t both = (uint64_t)caller << 32 | callee;
    uint32_t hash = (uint32_t)(jsp_hash_mix(b->by_pair.seed, both) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&b->by_pair, hash, &probe)) != 0)
        if (b->pairs[at - 1].caller == caller && b->pairs[at - 1].callee == callee)
            break;
    if (!at) {
        if (jsp_grow(&b->pairs, &b->pairs_room, b->n_pairs, sizeof *b->pairs) < 0 ||
            jsp_hash_add(&b->by_pair, hash, b->n_pairs) < 0)
            return -ENOMEM;
        b->pairs[b->n_pairs] = (struct stacks_pair){ caller, callee, 0 };
        at = ++b->n_pairs;
    }
    bool is_first = b->pairs[at - 1].seen != stack + 1;
    b->pairs[at - 1].seen = stack + 1;
    return is_first;
}

static int stacks_call(struct stacks_build *b, struct callgrind_call call, uint32_t stack)
{
    const struct jsp_stack *k = &b->e->profile->stacks[stack];
    uint64_t h = jsp_hash_mix(b->calls.seed, (uint64_t)call.caller << 32 | call.callee);
    uint32_t hash = (uint32_t)(jsp_hash_mix(h, call.line) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&b->calls, hash, &probe)) != 0) {
        const struct callgrind_call *old = &b->to->calls[at - 1];
        if (old->caller == call.caller && old->callee == call.callee && old->line == call.line)
            break;
    }
    if (!at) {
        struct callgrind_call *fresh = callgrind_call_add(b->to);
        if (!fresh || jsp_hash_add(&b->calls, hash, b->to->n_calls - 1) < 0)
            return -ENOMEM;
        *fresh = call;
        at = b->to->n_calls;
    }
    b->to->calls[at - 1].calls += k->samples;
    b->to->calls[at - 1].cost += k->value;
    return 0;
}

static int stacks_self(struct stacks_build *b, struct callgrind_self self)
{
    uint64_t both = (uint64_t)self.function << 32 | self.line;
    uint32_t hash = (uint32_t)(jsp_hash_mix(b->selves.seed, both) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&b->selves, hash, &probe)) != 0) {
        struct callgrind_self *old = &b->to->selves[at - 1];
        if (old->function == self.function && old->line == self.line) {
            old->cost += self.cost;
            return 0;
        }
    }
    struct callgrind_self *fresh = callgrind_self_add(b->to);
    if (!fresh)
        return -ENOMEM;
    *fresh = self;
    return jsp_hash_add(&b->selves, hash, b->to->n_selves - 1);
}

static int stacks_total(struct stacks_build *b, uint32_t function, uint32_t stack)
{
    if (stacks_reach(&b->seen_function, &b->seen_room, &b->n_seen, function + 1) < 0)
        return -ENOMEM;
    if (b->seen_function[function] != stack + 1)
        b->to->functions[function].total += b->e->profile->stacks[stack].value;
    b->seen_function[function] = stack + 1;
    return 0;
}

/* Return the frame's line if it is in the function's own file, otherwise the
 * function's. */
static uint32_t stacks_line(const struct stacks_build *b, const struct jsp_profile_frame *frame,
                            uint32_t function)
{
    const struct callgrind_function *f = &b->to->functions[function];
    const char *file = frame->file ? b->e->profile->files[frame->file] : NULL;
    bool is_own = !file || jsp_read_is(f->file, file);
    return is_own && frame->line ? frame->line : f->line;
}

static int stacks_stack(struct stacks_build *b, uint32_t stack)
{
    const struct jsp_stack *k = &b->e->profile->stacks[stack];
    int n = jsp_select_frames(b->e->select, b->e->profile, stack, b->frames);
    struct callgrind_call call = { 0 };
    int err = n <= 0 ? n : stacks_thread(b, k->thread, &call.callee);
    if (n <= 0 || err)
        return err;
    err = stacks_total(b, call.callee, stack);
    for (int i = n - 1; i >= 0 && !err; i--) {
        call.caller = call.callee;
        call.line = i == n - 1 ? 0 : stacks_line(b, &b->frames[i + 1], call.caller);
        err = stacks_function(b, &b->frames[i], &call.callee);
        int first = err ? err : stacks_first(b, call.caller, call.callee, stack);
        err = first > 0 ? stacks_call(b, call, stack) : first;
        if (!err)
            err = stacks_total(b, call.callee, stack);
    }
    if (err)
        return err;
    uint32_t line = stacks_line(b, &b->frames[0], call.callee);
    return stacks_self(b, (struct callgrind_self){ call.callee, line, k->value });
}

int callgrind_stacks(struct callgrind *c, struct jsp_export *e)
{
    struct stacks_build *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->to = c;
    b->e = e;
    enum jsp_value unit = e->profile->unit;
    c->event = unit == JSP_VALUE_COUNT ? "samples" : jsp_unit_is_bytes(unit) ? "bytes" : "ns";
    const struct jsp_profile *p = e->profile;
    struct jsp_hash *const tables[] = { &b->calls, &b->selves, &b->by_pair };
    b->of_thread = calloc((size_t)p->n_threads + 1, sizeof *b->of_thread);
    int err = b->of_thread ? 0 : -ENOMEM;
    for (int i = 0; i < 3 && !err; i++)
        err = jsp_hash_init(tables[i], 0);
    for (uint32_t i = 0; i < p->n_stacks && !err; i++)
        if (jsp_select_has(e->select, &p->stacks[i]))
            err = stacks_stack(b, i);
    if (!err && !c->n_selves)
        err = -ENODATA;
    jsp_hash_free(&b->calls);
    jsp_hash_free(&b->selves);
    free(b->of_function);
    free(b->of_thread);
    free(b->seen_function);
    jsp_hash_free(&b->by_pair);
    free(b->pairs);
    free(b);
    return err;
}
