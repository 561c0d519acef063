/* analyze/causes.c - chains of the tasks that scheduled others. See causes.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "causes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct causes_work {
    struct jsp_causes *c;
    const struct jsp_tasks *t;
    uint32_t *looks; /* by stacks[]: one that looks the same; owned */
    struct jsp_hash by_links;
    struct jsp_causes_link links[JSP_CAUSES_LINKS];
    uint32_t n_links;
    bool is_cut;
};

/* -- Chains ------------------------------------------------------------------ */

static void causes_chain(struct causes_work *w, uint32_t task)
{
    w->n_links = 0;
    w->is_cut = false;
    for (uint32_t steps = 0; task != JSP_TASK_NONE; steps++) {
        const struct jsp_task *k = &w->t->tasks[task];
        uint32_t stack = k->stack == JSP_TASK_NONE ? JSP_TASK_NONE : w->looks[k->stack];
        struct jsp_causes_link *last = w->n_links ? &w->links[w->n_links - 1] : NULL;
        if (last && last->what == k->what && last->stack == stack) {
            last->times++;
        } else if (w->n_links < JSP_CAUSES_LINKS && steps < JSP_CAUSES_STEPS) {
            w->links[w->n_links++] = (struct jsp_causes_link){ k->what, stack, 1 };
        } else {
            w->is_cut = true;
            return;
        }
        task = steps < JSP_CAUSES_STEPS ? k->parent : JSP_TASK_NONE;
        w->is_cut = steps >= JSP_CAUSES_STEPS;
    }
}

static bool causes_is(const struct jsp_causes_chain *chain, const struct causes_work *w)
{
    if (chain->n_links != w->n_links || chain->is_cut != w->is_cut)
        return false;
    for (uint32_t i = 0; i < w->n_links; i++)
        if (chain->links[i].what != w->links[i].what ||
            chain->links[i].stack != w->links[i].stack)
            return false;
    return true;
}

/* Find or add the chain in `w`. */
static int causes_find(struct causes_work *w, uint32_t task, uint32_t *out)
{
    struct jsp_causes *c = w->c;
    uint64_t mix = w->by_links.seed;
    for (uint32_t i = 0; i < w->n_links; i++)
        mix = jsp_hash_mix(mix, (uint64_t)w->links[i].what << 32 | w->links[i].stack);
    uint32_t hash = (uint32_t)mix, probe = hash, at;
    while ((at = jsp_hash_next(&w->by_links, hash, &probe)) != 0)
        if (causes_is(&c->chains[at - 1], w)) {
            *out = at - 1;
            return 0;
        }
    struct jsp_causes_link *links = malloc(w->n_links * sizeof *links);
    if (!links || jsp_grow(&c->chains, &c->room, c->n_chains, sizeof *c->chains) < 0) {
        free(links);
        return -ENOMEM;
    }
    memcpy(links, w->links, w->n_links * sizeof *links);
    c->chains[c->n_chains] = (struct jsp_causes_chain){
        .links = links, .n_links = w->n_links, .is_cut = w->is_cut, .delay = -1, .first = task };
    *out = c->n_chains;
    return jsp_hash_add(&w->by_links, hash, c->n_chains++);
}

/* -- What made them ready ------------------------------------------------------ */

static int causes_by_what(const void *a, const void *b)
{
    const struct jsp_causes_ready *x = a, *y = b;
    return x->chain != y->chain ? (x->chain > y->chain) - (x->chain < y->chain)
                                : (x->what > y->what) - (x->what < y->what);
}

static int causes_by_runs(const void *a, const void *b)
{
    const struct jsp_causes_ready *x = a, *y = b;
    return x->chain != y->chain || x->runs == y->runs ? causes_by_what(a, b)
                                                      : (x->runs < y->runs) - (x->runs > y->runs);
}

/* Note it if another task than its maker made the run of a chain's task ready. */
static int causes_ready(struct causes_work *w, uint32_t chain, const struct jsp_task_run *r)
{
    struct jsp_causes *c = w->c;
    if (r->by == JSP_TASK_NONE || r->by == w->t->tasks[r->task].parent)
        return 0;
    if (jsp_grow(&c->ready, &c->ready_room, c->n_ready, sizeof *c->ready) < 0)
        return -ENOMEM;
    c->ready[c->n_ready++] = (struct jsp_causes_ready){ chain, w->t->tasks[r->by].what, 1 };
    return 0;
}

/* Make those of one chain and one name one, and give each chain its own. */
static void causes_ready_join(struct jsp_causes *c)
{
    uint32_t n = 0;
    if (!c->n_ready)
        return;
    qsort(c->ready, c->n_ready, sizeof *c->ready, causes_by_what);
    for (uint32_t i = 0; i < c->n_ready; i++)
        if (n && causes_by_what(&c->ready[n - 1], &c->ready[i]) == 0)
            c->ready[n - 1].runs++;
        else
            c->ready[n++] = c->ready[i];
    c->n_ready = n;
    qsort(c->ready, n, sizeof *c->ready, causes_by_runs);
    while (n-- > 0) {
        struct jsp_causes_chain *chain = &c->chains[c->ready[n].chain];
        chain->ready = &c->ready[n];
        chain->n_ready++;
    }
}

/* -- All tasks ------------------------------------------------------------------ */

static int causes_add(struct causes_work *w, uint32_t task)
{
    const struct jsp_task *k = &w->t->tasks[task];
    uint32_t at;
    causes_chain(w, task);
    int err = causes_find(w, task, &at);
    if (err < 0)
        return err;
    struct jsp_causes_chain *chain = &w->c->chains[at];
    for (uint32_t i = 0; i < w->n_links; i++)
        if (chain->links[i].times < w->links[i].times)
            chain->links[i].times = w->links[i].times;
    chain->tasks++;
    chain->runs += k->n_runs;
    for (uint32_t i = 0; err == 0 && i < k->n_runs; i++) {
        const struct jsp_task_run *r = &w->t->runs[w->t->runs_of[k->first_run + i]];
        chain->total += (double)r->duration;
        chain->delay = r->delay > chain->delay ? r->delay : chain->delay;
        err = causes_ready(w, at, r);
    }
    return err;
}

static int causes_compare(const void *a, const void *b)
{
    const struct jsp_causes_chain *x = a, *y = b;
    if (x->total < y->total || x->total > y->total)
        return x->total > y->total ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int causes_all(struct causes_work *w, const bool *asked)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < w->t->n_tasks; i++)
        if (asked[i])
            err = causes_add(w, i);
    causes_ready_join(w->c);
    if (w->c->n_chains)
        qsort(w->c->chains, w->c->n_chains, sizeof *w->c->chains, causes_compare);
    return err;
}

int jsp_causes_build(struct jsp_causes *c, const struct jsp_tasks *t, struct jsp_profile *p,
                     const struct jsp_causes_view *view, const bool *asked)
{
    *c = (struct jsp_causes){ 0 };
    struct causes_work w = { .c = c, .t = t };
    int err = jsp_hash_init(&w.by_links, 0);
    if (err == 0)
        err = jsp_causes_looks(t, p, view, &w.looks);
    if (err == 0)
        err = causes_all(&w, asked);
    jsp_hash_free(&w.by_links);
    free(w.looks);
    return err;
}

void jsp_causes_free(struct jsp_causes *c)
{
    for (uint32_t i = 0; i < c->n_chains; i++)
        free(c->chains[i].links);
    free(c->chains);
    free(c->ready);
    *c = (struct jsp_causes){ 0 };
}
