/* analyze/groups.c - functions in groups: by category, by kind, by module.
 *
 * SPDX-License-Identifier: MIT
 */
#include "groups.h"

#include <errno.h>
#include <stdlib.h>

#include "jsprof.h"

struct jsp_groups {
    enum jsp_group_by by;
    const struct jsp_categories *categories;
    const char **names; /* borrowed from categories and functions */
    uint32_t n, room;
    uint32_t *known; /* two of each function: group + 1 of its own kind, then as JIT; 0: unknown */
    uint32_t n_known, known_room;
};

int jsp_groups_open(struct jsp_groups **out, enum jsp_group_by by,
                    const struct jsp_categories *categories)
{
    struct jsp_groups *g = calloc(1, sizeof *g);
    if (!g)
        return -ENOMEM;
    g->by = by;
    g->categories = categories;
    *out = g;
    return 0;
}

void jsp_groups_close(struct jsp_groups *g)
{
    if (!g)
        return;
    free(g->names);
    free(g->known);
    free(g);
}

const char *jsp_groups_no_module(uint32_t kind)
{
    return kind == JSPROF_KIND_VM || kind == JSPROF_KIND_JIT     ? "[vm]"
           : kind == JSPROF_KIND_LABEL || kind == JSPROF_KIND_GC ? "[host]"
           : kind == JSP_KIND_KERNEL                             ? "[kernel]"
           : kind == JSPROF_KIND_SYNTH                           ? "[jsprof]"
                                                                 : "[unknown]";
}

static const char *groups_describe(const struct jsp_groups *g, const struct jsp_function *f,
                                   uint32_t kind)
{
    switch (g->by) {
    case JSP_GROUP_CATEGORY:
        return jsp_categories_name(g->categories, jsp_categories_of(g->categories, f, kind));
    case JSP_GROUP_KIND: return jsp_kind_name(kind);
    case JSP_GROUP_MODULE: break;
    }
    return *f->module ? f->module : jsp_groups_no_module(kind);
}

static int groups_number(struct jsp_groups *g, const char *name, uint32_t *out)
{
    for (*out = 0; *out < g->n; ++*out)
        if (strcmp(g->names[*out], name) == 0)
            return 0;
    if (jsp_grow(&g->names, &g->room, g->n, sizeof *g->names) < 0)
        return -ENOMEM;
    g->names[g->n++] = name;
    return 0;
}

int jsp_groups_of(struct jsp_groups *g, const struct jsp_profile *p,
                  const struct jsp_profile_frame *frame, uint32_t *out)
{
    uint32_t at = 2 * frame->function + (frame->kind == JSPROF_KIND_JIT);
    for (; g->n_known <= at; g->n_known++) {
        if (jsp_grow(&g->known, &g->known_room, g->n_known, sizeof *g->known) < 0)
            return -ENOMEM;
        g->known[g->n_known] = 0;
    }
    if (!g->known[at]) {
        const struct jsp_function *f = &p->functions[frame->function];
        uint32_t group;
        if (groups_number(g, groups_describe(g, f, frame->kind), &group) < 0)
            return -ENOMEM;
        g->known[at] = group + 1;
    }
    *out = g->known[at] - 1;
    return 0;
}

uint32_t jsp_groups_n(const struct jsp_groups *g)
{
    return g->n;
}

const char *jsp_groups_name(const struct jsp_groups *g, uint32_t group)
{
    return g->names[group];
}
