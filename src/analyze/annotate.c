/* analyze/annotate.c - the lines of one function, and the rows of its bytecode.
 *
 * SPDX-License-Identifier: MIT
 */
#include "annotate.h"

#include <errno.h>
#include <stdlib.h>

#include "addresses.h"
#include "work.h"
#include "capture/wire.h"

enum { ANNOTATE_IS_LEAF = 1, ANNOTATE_FRAME = 2 };

struct annotate_build {
    struct jsp_profile *p;
    struct jsp_annotate *out;
    const struct jsp_annotate_ask *ask;
    /* For each stack of the profile: ANNOTATE_FRAME for each frame of the function on it,
     * plus ANNOTATE_IS_LEAF. */
    uint32_t *stacks;
    struct jsp_hash by_line;
    uint32_t generated; /* the function's, as in its frames */
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
    uint32_t rows[JSP_PROFILE_DEPTH];
};

/* Add to total once for each sample or stack; `seen` is its number + 1. */
static void annotate_count(struct jsp_annotate_cost *cost, uint64_t seen, uint64_t value)
{
    cost->total += cost->seen == seen ? 0 : value;
    cost->seen = seen;
}

/* -- Lines, by stack ---------------------------------------------------------- */

static struct jsp_annotate_line *annotate_line(struct annotate_build *b,
                                               const struct jsp_profile_frame *frame)
{
    struct jsp_annotate *a = b->out;
    uint64_t both = (uint64_t)frame->file << 32 | frame->line;
    uint32_t hash = (uint32_t)jsp_hash_mix(b->by_line.seed, both), probe = hash, at;
    while ((at = jsp_hash_next(&b->by_line, hash, &probe)) != 0)
        if (a->lines[at - 1].line == frame->line && a->lines[at - 1].file == frame->file)
            return &a->lines[at - 1];
    if (jsp_grow(&a->lines, &a->lines_room, a->n_lines, sizeof *a->lines) < 0)
        return NULL;
    a->lines[a->n_lines] = (struct jsp_annotate_line){ frame->file, frame->line, { 0, 0, 0 } };
    return jsp_hash_add(&b->by_line, hash, a->n_lines) < 0 ? NULL : &a->lines[a->n_lines++];
}

static int annotate_frames(struct annotate_build *b, uint32_t stack, int n)
{
    const struct jsp_stack *k = &b->p->stacks[stack];
    struct jsp_annotate *a = b->out;
    for (int i = 0, met = 0; i < n; i++) {
        const struct jsp_profile_frame *frame = &b->frames[i];
        if (frame->function != a->function)
            continue;
        bool is_self = !met++ && b->stacks[stack] & ANNOTATE_IS_LEAF;
        if (!frame->line)
            continue;
        struct jsp_annotate_line *line = annotate_line(b, frame);
        if (!line)
            return -ENOMEM;
        annotate_count(&line->cost, (uint64_t)stack + 1, k->value);
        line->cost.self += is_self ? k->value : 0;
        a->in_lines += is_self ? k->value : 0;
    }
    return 0;
}

static int annotate_stack(struct annotate_build *b, uint32_t stack)
{
    const struct jsp_stack *k = &b->p->stacks[stack];
    struct jsp_annotate *a = b->out;
    int n = jsp_select_frames(b->ask->select, b->p, stack, b->frames);
    if (n <= 0)
        return n;
    a->value += k->value;
    a->samples += k->samples;
    uint32_t met = 0;
    for (int i = 0; i < n; i++) {
        if (b->frames[i].function != a->function)
            continue;
        b->generated = b->frames[i].generated;
        met++;
    }
    if (!met)
        return 0;
    bool leaf = b->frames[0].function == a->function;
    b->stacks[stack] = met * ANNOTATE_FRAME + (leaf ? ANNOTATE_IS_LEAF : 0);
    a->total += k->value;
    a->total_samples += k->samples;
    a->self += leaf ? k->value : 0;
    a->self_samples += leaf ? k->samples : 0;
    return annotate_frames(b, stack, n);
}

static int annotate_compare(const void *x, const void *y)
{
    const struct jsp_annotate_line *a = x, *b = y;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* -- Rows, by sample ---------------------------------------------------------- */

/* Count the rows of one sample; each row belongs to an address. Frames of the function
 * further out than the selected ones do not count. */
static int annotate_rows(struct annotate_build *b, const struct jsp_profile_sample *s,
                         uint32_t n)
{
    const struct jsp_stack *k = &b->p->stacks[s->stack];
    struct jsp_annotate *a = b->out;
    struct jsp_profile_address at = { .key = { 0, a->code.pid, k->epoch } };
    struct jsp_profile_frame frame;
    uint32_t left = b->stacks[s->stack] / ANNOTATE_FRAME;
    bool is_self = b->stacks[s->stack] & ANNOTATE_IS_LEAF;
    struct jsp_addresses all;
    uint64_t line;
    jsp_addresses_of_stack(&all, b->p, k);
    for (uint32_t i = 0; i < n && left && jsp_addresses_next(&all, &at.key.addr, &line); i++) {
        int err = jsp_profile_function(b->p, &at, &frame);
        if (err < 0)
            return err;
        if (frame.function != a->function)
            continue;
        uint32_t row = b->rows[i];
        if (row && row <= a->code.n) {
            annotate_count(&a->rows[row - 1], s->ordinal + 1, s->value);
            a->rows[row - 1].self += is_self ? s->value : 0;
            a->in_rows += is_self ? s->value : 0;
        }
        is_self = false;
        left--;
    }
    return 0;
}

static int annotate_samples(struct annotate_build *b)
{
    struct jsp_bytecode_pcs pcs;
    const struct jsp_profile_samples *all = b->ask->samples;
    int err = 0;
    b->out->rows = calloc((size_t)b->out->code.n + 1, sizeof *b->out->rows);
    if (!b->out->rows)
        return -ENOMEM;
    if (b->p->unit == JSP_VALUE_ALLOC || b->p->unit == JSP_VALUE_LIVE)
        return 0; /* the file's numbers are those of the samples of time */
    jsp_bytecode_pcs_start(&pcs, b->p->capture, b->ask->defects);
    for (uint32_t i = 0; err == 0 && i < all->n; i++) {
        const struct jsp_profile_sample *s = &all->list[i];
        bool is_ours = b->p->threads[b->p->stacks[s->stack].thread].pid == b->out->code.pid;
        if (!b->stacks[s->stack] || !is_ours)
            continue;
        uint32_t n = s->ref
                         ? jsp_read_rows(b->p->capture, s->ref, b->rows, JSP_PROFILE_DEPTH)
                         : jsp_bytecode_pcs_get(&pcs, s->ordinal, b->rows, JSP_PROFILE_DEPTH);
        err = n ? annotate_rows(b, s, n) : 0;
    }
    return err;
}

int jsp_annotate_originals(struct jsp_profile *p, uint32_t generated, struct jsp_bytecode *code)
{
    int err = 0;
    for (uint32_t i = 0; generated && !err && i < code->n; i++) {
        struct jsp_naming_line is = { 0 };
        if (code->rows[i].line)
            err = jsp_naming_line(p->naming, generated, code->rows[i].line, &is);
        code->rows[i].line = is.file ? 0 : is.line;
        free(is.file);
    }
    return err;
}

static int annotate_all(struct annotate_build *b)
{
    struct jsp_profile *p = b->p;
    struct jsp_annotate *a = b->out;
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < p->n_stacks; i++)
        if (jsp_select_has(b->ask->select, &p->stacks[i]))
            err = annotate_stack(b, i);
    if (err == 0)
        err = jsp_bytecode_read(&a->code, p->capture, p->functions[a->function].recorded,
                                b->ask->defects);
    if (err == 0)
        err = jsp_annotate_originals(p, b->generated, &a->code);
    if (err == 0 && a->code.is_there)
        err = annotate_samples(b);
    if (a->n_lines)
        qsort(a->lines, a->n_lines, sizeof *a->lines, annotate_compare);
    return err;
}

int jsp_annotate_build(struct jsp_annotate *out, struct jsp_profile *p,
                       const struct jsp_annotate_ask *ask)
{
    memset(out, 0, sizeof *out);
    struct annotate_build *b = calloc(1, sizeof *b);
    uint32_t *stacks = calloc((size_t)p->n_stacks + 1, sizeof *stacks);
    int err = b && stacks ? 0 : -ENOMEM;
    if (!err) {
        out->function = ask->function;
        b->p = p;
        b->out = out;
        b->ask = ask;
        b->stacks = stacks;
        err = jsp_hash_init(&b->by_line, 0);
        if (!err)
            err = annotate_all(b);
        jsp_hash_free(&b->by_line);
    }
    free(stacks);
    free(b);
    if (err)
        jsp_annotate_free(out);
    return err;
}

void jsp_annotate_free(struct jsp_annotate *a)
{
    jsp_bytecode_free(&a->code);
    free(a->lines);
    free(a->rows);
    memset(a, 0, sizeof *a);
}
