/* analyze/functions.c - a profile by function, or by group of functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include "functions.h"

#include <errno.h>
#include <stdlib.h>

#include "jsprof.h"

struct functions_line {
    uint32_t function, line, file;
    uint64_t value;
};

struct functions_build {
    struct jsp_profile *p;
    const struct jsp_select *select;
    struct jsp_groups *groups; /* NULL: rows are of functions */
    struct jsp_functions *out;
    uint32_t *seen; /* by row: number + 1 of the last stack with it */
    uint32_t rows_room, seen_room;
    struct functions_line *lines;
    uint32_t n_lines, lines_room;
    struct jsp_hash by_line;
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
};

/* Find the row of a frame. Add rows for what was found while resolving stacks. */
static int functions_row(struct functions_build *b, uint32_t stack,
                         const struct jsp_profile_frame *frame, uint32_t *row)
{
    struct jsp_functions *f = b->out;
    *row = frame->function;
    if (b->groups && jsp_groups_of(b->groups, b->p, stack, frame, row) < 0)
        return -ENOMEM;
    uint32_t n = b->groups ? jsp_groups_n(b->groups) : b->p->n_functions;
    for (; f->n < n; f->n++) {
        if (jsp_grow(&f->rows, &b->rows_room, f->n, sizeof *f->rows) < 0)
            return -ENOMEM;
        if (jsp_grow(&b->seen, &b->seen_room, f->n, sizeof *b->seen) < 0)
            return -ENOMEM;
        f->rows[f->n] = (struct jsp_function_row){ .function = f->n };
        b->seen[f->n] = 0;
    }
    return 0;
}

static int functions_line(struct functions_build *b, struct jsp_profile_frame leaf,
                          uint64_t value)
{
    uint64_t both = (uint64_t)leaf.function << 32 | leaf.line;
    uint32_t hash = (uint32_t)(jsp_hash_mix(b->by_line.seed, both) >> 16), probe = hash,
             at;
    while ((at = jsp_hash_next(&b->by_line, hash, &probe)) != 0) {
        struct functions_line *l = &b->lines[at - 1];
        if (l->function == leaf.function && l->line == leaf.line &&
            l->file == leaf.file) {
            l->value += value;
            return 0;
        }
    }
    if (jsp_grow(&b->lines, &b->lines_room, b->n_lines, sizeof *b->lines) < 0)
        return -ENOMEM;
    b->lines[b->n_lines] =
        (struct functions_line){ leaf.function, leaf.line, leaf.file, value };
    return jsp_hash_add(&b->by_line, hash, b->n_lines++);
}

static int functions_stack(struct functions_build *b, uint32_t stack)
{
    const struct jsp_stack *k = &b->p->stacks[stack];
    struct jsp_functions *out = b->out;
    int n = jsp_select_frames(b->select, b->p, stack, b->frames);
    for (int i = 0; i < n; i++) {
        uint32_t row;
        if (functions_row(b, stack, &b->frames[i], &row) < 0)
            return -ENOMEM;
        if (i == 0) {
            out->rows[row].self += k->value;
            out->rows[row].self_samples += k->samples;
        }
        if (b->seen[row] == stack + 1)
            continue;
        b->seen[row] = stack + 1;
        out->rows[row].total += k->value;
        out->rows[row].total_samples += k->samples;
        if (b->frames[i].kind == JSPROF_KIND_JIT)
            out->rows[row].jit_total += k->value;
    }
    if (n <= 0)
        return n;
    out->value += k->value;
    out->samples += k->samples;
    out->weight += k->weight;
    return b->frames[0].line && !b->groups ? functions_line(b, b->frames[0], k->value) : 0;
}

int jsp_functions_build_by(struct jsp_functions *out, struct jsp_profile *p,
                           const struct jsp_select *select, struct jsp_groups *groups)
{
    memset(out, 0, sizeof *out);
    struct functions_build *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->p = p;
    b->out = out;
    b->select = select;
    b->groups = groups;
    out->groups = groups;
    int err = jsp_hash_init(&b->by_line, 0);
    for (uint32_t i = 0; err == 0 && i < p->n_stacks; i++)
        if (jsp_select_has(select, &p->stacks[i]))
            err = functions_stack(b, i);
    for (uint32_t i = 0; err == 0 && i < b->n_lines; i++) {
        const struct functions_line *l = &b->lines[i];
        struct jsp_function_row *row = &out->rows[l->function];
        out->has_lines = true;
        if (l->value > row->line_value || row->line == 0) {
            row->line = l->line;
            row->file = l->file;
            row->line_value = l->value;
        }
    }
    uint32_t n = out->n;
    out->n = 0; /* drop the rows of functions that only unselected stacks contain */
    for (uint32_t i = 0; err == 0 && i < n; i++) {
        struct jsp_function_row *row = &out->rows[i];
        bool is_jit = row->jit_total > row->total / 2;
        if (!groups)
            row->kind = is_jit ? JSPROF_KIND_JIT : p->functions[row->function].kind;
        if (row->total_samples)
            out->rows[out->n++] = *row;
    }
    if (err < 0)
        jsp_functions_free(out);
    jsp_hash_free(&b->by_line);
    free(b->lines);
    free(b->seen);
    free(b);
    return err;
}

int jsp_functions_build(struct jsp_functions *out, struct jsp_profile *p,
                        const struct jsp_select *select)
{
    return jsp_functions_build_by(out, p, select, NULL);
}

const char *jsp_functions_name(const struct jsp_functions *f, const struct jsp_profile *p,
                               const struct jsp_function_row *row)
{
    return f->groups ? jsp_groups_name(f->groups, row->function)
                     : p->functions[row->function].name;
}

struct functions_key {
    struct jsp_function_row row;
    const char *name;
    uint64_t first, second;
};

static int functions_compare(const void *a, const void *b)
{
    const struct functions_key *x = a, *y = b;
    if (x->first != y->first)
        return x->first > y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second > y->second ? -1 : 1;
    return strcmp(x->name, y->name);
}

void jsp_functions_sort(struct jsp_functions *f, const struct jsp_profile *p,
                        enum jsp_sort by)
{
    struct functions_key *keys = malloc((f->n + 1) * sizeof *keys);
    if (!keys)
        return; /* unsorted, but complete */
    for (uint32_t i = 0; i < f->n; i++) {
        const struct jsp_function_row *r = &f->rows[i];
        keys[i] = (struct functions_key){ *r, jsp_functions_name(f, p, r), 0, 0 };
        if (by != JSP_SORT_NAME) {
            keys[i].first = by == JSP_SORT_SELF    ? r->self
                            : by == JSP_SORT_TOTAL ? r->total
                                                   : r->self_samples;
            keys[i].second = by == JSP_SORT_TOTAL ? r->self : r->total;
        }
    }
    qsort(keys, f->n, sizeof *keys, functions_compare);
    for (uint32_t i = 0; i < f->n; i++)
        f->rows[i] = keys[i].row;
    free(keys);
}

void jsp_functions_free(struct jsp_functions *f)
{
    free(f->rows);
    memset(f, 0, sizeof *f);
}
