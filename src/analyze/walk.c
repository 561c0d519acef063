/* analyze/walk.c - the samples of a profile in file order, each with its stack.
 *
 * SPDX-License-Identifier: MIT
 */
#include "walk.h"

#include "work.h"

void jsp_walk_start(struct jsp_walk *w, struct jsp_profile *p,
                    const struct jsp_select *select)
{
    w->profile = p;
    w->select = select;
    jsp_read_start(&w->cursor, p->capture, NULL);
    jsp_samples_start(&w->samples, p, NULL);
}

bool jsp_walk_next(struct jsp_walk *w, struct jsp_walk_item *out)
{
    struct jsp_profile *p = w->profile;
    struct jsp_read_frame f;
    struct jsp_sample s;
    uint32_t stack;
    while (jsp_read_next(&w->cursor, &f)) {
        if (!jsp_work_counts(p, &f) || !jsp_samples_take(&w->samples, &f, &s) ||
            !jsp_scan_find(p, &f, &s, &stack) ||
            !jsp_select_has(w->select, &p->stacks[stack]))
            continue;
        *out = (struct jsp_walk_item){ .time = f.time,
                                       .stack = stack,
                                       .thread = p->stacks[stack].thread,
                                       .cpu = f.cpu,
                                       .value = jsp_scan_value(p, &s),
                                       .weight = s.weight.weight,
                                       .cpu_ns = s.weight.cpu_ns };
        return true;
    }
    return false;
}
