/* analyze/chains.c - the chain of tasks that led to each sample. See chains.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "chains.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "work.h"

/* -- Links ------------------------------------------------------------------ */

/* Return the link on the chain with the same name and stack, or JSP_CHAIN_NONE. */
static uint32_t chains_again(const struct jsp_chains *c, const struct jsp_chain *key)
{
    uint32_t at = key->parent;
    while (at >= JSP_CHAIN_FIRST &&
           (c->links[at].what != key->what || c->links[at].stack != key->stack))
        at = c->links[at].parent;
    return at >= JSP_CHAIN_FIRST ? at : JSP_CHAIN_NONE;
}

static int chains_add(struct jsp_chains *c, const struct jsp_chain *link)
{
    if (jsp_grow(&c->links, &c->room, c->n, sizeof *c->links) < 0)
        return -ENOMEM;
    c->links[c->n++] = *link;
    return 0;
}

/* Find or add the link of a task that a task of link `key->parent` made. */
static int chains_link(struct jsp_chains *c, const struct jsp_chain *key, uint32_t *out)
{
    uint64_t h = jsp_hash_mix(c->by_link.seed, key->parent);
    uint32_t hash = (uint32_t)jsp_hash_mix(h, (uint64_t)key->what << 32 | key->stack);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&c->by_link, hash, &probe)) != 0)
        if (memcmp(&c->known[at - 1].key, key, sizeof *key) == 0) {
            *out = c->known[at - 1].link;
            return 0;
        }
    *out = chains_again(c, key);
    if (*out == JSP_CHAIN_NONE) {
        *out = c->n;
        if (chains_add(c, key) < 0)
            return -ENOMEM;
    }
    if (jsp_grow(&c->known, &c->known_room, c->n_known, sizeof *c->known) < 0)
        return -ENOMEM;
    c->known[c->n_known] = (struct jsp_chain_known){ *key, *out };
    return jsp_hash_add(&c->by_link, hash, c->n_known++);
}

static int chains_build(struct jsp_chains *c)
{
    const struct jsp_chain none = { JSP_CHAIN_NONE, 0, JSP_TASK_NONE };
    const struct jsp_tasks *t = &c->tasks;
    int err = 0;
    c->of_task = malloc((t->n_tasks + (size_t)1) * sizeof *c->of_task);
    c->frames = malloc(JSP_PROFILE_DEPTH * sizeof *c->frames);
    if (!c->of_task || !c->frames || jsp_hash_init(&c->by_link, 0) < 0)
        return -ENOMEM;
    for (int i = 0; err == 0 && i < JSP_CHAIN_FIRST; i++)
        err = chains_add(c, &none);
    for (uint32_t i = 0; err == 0 && i < t->n_tasks; i++) {
        const struct jsp_task *k = &t->tasks[i];
        uint32_t parent = k->parent == JSP_TASK_NONE ? JSP_CHAIN_NONE : c->of_task[k->parent];
        err = chains_link(c, &(struct jsp_chain){ parent, k->what, k->stack }, &c->of_task[i]);
    }
    return err;
}

/* A folded chain lacks links, so ask each task's own parents. */
static int chains_choose(struct jsp_chains *c, const char *under)
{
    const struct jsp_tasks *t = &c->tasks;
    c->is_under = jsp_tasks_matching(t, under);
    for (uint32_t i = 0; c->is_under && i < t->n_tasks; i++) {
        c->n_under += c->is_under[i];
        if (t->tasks[i].parent != JSP_TASK_NONE)
            c->is_under[i] |= c->is_under[t->tasks[i].parent];
    }
    return c->is_under ? 0 : -ENOMEM;
}

int jsp_chains_open(struct jsp_chains **out, const struct jsp_profile *p, const char *under)
{
    struct jsp_chains *c = calloc(1, sizeof *c);
    int err = c ? jsp_tasks_read(&c->tasks, p) : -ENOMEM;
    if (err == 0)
        err = chains_build(c);
    if (err == 0 && under)
        err = chains_choose(c, under);
    if (err < 0) {
        jsp_chains_close(c);
        return err;
    }
    *out = c;
    return 0;
}

void jsp_chains_close(struct jsp_chains *c)
{
    if (!c)
        return;
    jsp_tasks_free(&c->tasks);
    jsp_hash_free(&c->by_link);
    free(c->links);
    free(c->of_task);
    free(c->is_under);
    free(c->frames);
    free(c->known);
    free(c);
}

/* -- Samples ---------------------------------------------------------------- */

/* Return the task that ran at an allocation, whose sample has no number of it. */
static uint32_t chains_run_at(const struct jsp_tasks *t, const struct jsp_read_frame *f,
                              int32_t tid, bool *is_unknown)
{
    uint32_t thread = jsp_tasks_thread(t, f->pid, tid);
    uint32_t run = thread == JSP_TASK_NONE ? JSP_TASK_NONE : jsp_tasks_run_at(t, thread, f->time);
    *is_unknown = run != JSP_TASK_NONE;
    return run == JSP_TASK_NONE ? JSP_TASK_NONE : t->runs[run].task;
}

bool jsp_chains_take(const struct jsp_chains *c, const struct jsp_read_frame *f,
                     const struct jsp_sample *sample, uint32_t *link)
{
    bool is_unknown = sample->task;
    uint32_t task = sample->bytes
                        ? chains_run_at(&c->tasks, f, sample->body.tid, &is_unknown)
                    : is_unknown ? jsp_tasks_find(&c->tasks, f->pid, sample->task)
                                 : JSP_TASK_NONE;
    *link = task != JSP_TASK_NONE ? c->of_task[task]
            : is_unknown          ? JSP_CHAIN_UNKNOWN
                                  : JSP_CHAIN_NONE;
    return !c->is_under || (task != JSP_TASK_NONE && c->is_under[task]);
}

/* -- Names and frames ------------------------------------------------------- */

char *jsp_chains_name(const struct jsp_chains *c, uint32_t link)
{
    const struct jsp_task_what *w = &c->tasks.whats[c->links[link].what];
    char *text;
    if (link < JSP_CHAIN_FIRST)
        return strdup(link == JSP_CHAIN_NONE ? "[no task]" : "[unknown task]");
    if (!w->kind.len && !w->name.len)
        return strdup("[task without a name]");
    int n = asprintf(&text, "%.*s%s%.*s", (int)w->kind.len, w->kind.at,
                     w->kind.len && w->name.len ? " " : "", (int)w->name.len, w->name.at);
    return n < 0 ? NULL : text;
}

/* Put the link's name in brackets, as a frame that no function has. */
static int chains_label(struct jsp_profile *p, uint32_t link, struct jsp_profile_frame *out)
{
    char *name = jsp_chains_name(p->chains, link), *text = NULL;
    int n = name ? asprintf(&text, *name == '[' ? "%s" : "[%s]", name) : -1;
    int err = n < 0 ? -ENOMEM : jsp_resolve_fixed(p, text, out);
    free(name);
    if (n >= 0)
        free(text);
    return err;
}

/* Store the shown frames of the stack on which a link's tasks were made. */
static int chains_made(struct jsp_profile *p, uint32_t link, const bool is_shown[3])
{
    struct jsp_chains *c = p->chains;
    uint32_t stack = c->links[link].stack;
    int n = stack == JSP_TASK_NONE ? 0 : jsp_tasks_stack_frames(&c->tasks, p, stack, c->frames);
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (is_shown[c->frames[i].origin])
            c->frames[kept++] = c->frames[i];
    return n < 0 ? n : kept;
}

int jsp_chains_frames(struct jsp_profile *p, uint32_t link, const bool is_shown[3],
                      struct jsp_profile_frame out[JSP_PROFILE_DEPTH], int n)
{
    struct jsp_chains *c = p->chains;
    int from = 0; /* of the stack to which the next link led */
    for (; link >= JSP_CHAIN_FIRST; link = c->links[link].parent) {
        int made = chains_made(p, link, is_shown), same = made;
        if (made < 0)
            return made;
        while (n > from + 1 && same > 0 && out[n - 1].function == c->frames[same - 1].function) {
            n--;
            same--;
        }
        if (n + 1 + made > JSP_PROFILE_DEPTH)
            return n;
        int err = chains_label(p, link, &out[n]);
        if (err < 0)
            return err;
        from = n + 1;
        memcpy(out + from, c->frames, (size_t)made * sizeof *out);
        n = from + made;
    }
    return n;
}
