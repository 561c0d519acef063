/* analyze/neighbours.c - one function with its callers, its self and its callees.
 *
 * SPDX-License-Identifier: MIT
 */
#include "neighbours.h"

#include <errno.h>
#include <stdlib.h>

struct neighbours_of { /* one function of the profile */
    struct jsp_neighbour as_caller, as_callee;
    bool is_it;
};

struct neighbours_build {
    struct jsp_neighbours *out;
    struct jsp_profile *p;
    const char *name;
    struct neighbours_of *of; /* by function */
    uint32_t n, room;
    struct jsp_neighbour root;
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
};

static int neighbours_reach(struct neighbours_build *b)
{
    for (; b->n < b->p->n_functions; b->n++) {
        if (jsp_grow(&b->of, &b->room, b->n, sizeof *b->of) < 0)
            return -ENOMEM;
        b->of[b->n] = (struct neighbours_of){
            .as_caller.function = b->n,
            .as_callee.function = b->n,
            .is_it = jsp_filter_names(&b->p->functions[b->n], b->name),
        };
    }
    return 0;
}

static void neighbours_add(struct jsp_neighbour *n, const struct jsp_stack *k)
{
    n->value += k->value;
    n->samples += k->samples;
}

/* Count a stack. Frames are leaf first: the first match is the innermost call. */
static void neighbours_count(struct neighbours_build *b, const struct jsp_stack *k, int n)
{
    struct jsp_neighbours *out = b->out;
    int inner = 0, outer = n - 1;
    out->value += k->value;
    out->samples += k->samples;
    while (inner < n && !b->of[b->frames[inner].function].is_it)
        inner++;
    if (inner == n)
        return;
    while (!b->of[b->frames[outer].function].is_it)
        outer--;
    out->total += k->value;
    out->total_samples += k->samples;
    neighbours_add(outer == n - 1 ? &b->root
                                  : &b->of[b->frames[outer + 1].function].as_caller,
                   k);
    if (inner > 0) {
        neighbours_add(&b->of[b->frames[inner - 1].function].as_callee, k);
        return;
    }
    out->self += k->value;
    out->self_samples += k->samples;
}

static int neighbours_compare(const void *a, const void *b)
{
    const struct jsp_neighbour *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

static int neighbours_list(const struct neighbours_build *b, bool is_callers,
                           struct jsp_neighbour **out, uint32_t *n)
{
    struct jsp_neighbour *list = malloc((b->n + 1) * sizeof *list);
    if (!list)
        return -ENOMEM;
    *n = 0;
    if (is_callers && b->root.samples)
        list[(*n)++] = b->root;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct neighbours_of *of = &b->of[i];
        const struct jsp_neighbour *one = is_callers ? &of->as_caller : &of->as_callee;
        if (one->samples)
            list[(*n)++] = *one;
    }
    qsort(list, *n, sizeof *list, neighbours_compare);
    *out = list;
    return 0;
}

int jsp_neighbours_build(struct jsp_neighbours *out, struct jsp_profile *p,
                         const struct jsp_select *select, const char *name)
{
    memset(out, 0, sizeof *out);
    struct neighbours_build *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->out = out;
    b->p = p;
    b->name = name;
    b->root.function = UINT32_MAX;
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < p->n_stacks; i++) {
        if (!jsp_select_has(select, &p->stacks[i]))
            continue;
        int n = jsp_select_frames(select, p, i, b->frames);
        err = n < 0 ? n : neighbours_reach(b);
        if (err == 0 && n > 0)
            neighbours_count(b, &p->stacks[i], n);
    }
    out->function = UINT32_MAX;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->of[i].is_it && out->n_of_name++ == 0)
            out->function = i;
    if (err == 0)
        err = neighbours_list(b, true, &out->callers, &out->n_callers);
    if (err == 0)
        err = neighbours_list(b, false, &out->callees, &out->n_callees);
    if (err < 0)
        jsp_neighbours_free(out);
    free(b->of);
    free(b);
    return err;
}

void jsp_neighbours_free(struct jsp_neighbours *n)
{
    free(n->callers);
    free(n->callees);
    memset(n, 0, sizeof *n);
}
