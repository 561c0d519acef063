/* analyze/calltree.c - see calltree.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "calltree.h"

#include <errno.h>
#include <stdlib.h>

/* -- Frames and nodes ------------------------------------------------------- */

static inline int calltree_frame(struct jsp_calltree *t, const struct jsp_profile_frame *f,
                                 uint32_t *out)
{
    uint64_t h = jsp_hash_mix(t->by_frame.seed, (uint64_t)f->function << 32 | f->line);
    h = jsp_hash_mix(h, (uint64_t)f->file << 32 | f->kind << 8 | (uint32_t)f->origin);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&t->by_frame, hash, &probe)) != 0) {
        const struct jsp_profile_frame *is = &t->frames[at - 1];
        if (is->function == f->function && is->line == f->line && is->file == f->file &&
            is->kind == f->kind && is->origin == f->origin) {
            *out = at - 1;
            return 0;
        }
    }
    if (jsp_grow(&t->frames, &t->frames_room, t->n_frames, sizeof *t->frames) < 0)
        return -ENOMEM;
    t->frames[t->n_frames] = *f;
    *out = t->n_frames++;
    return jsp_hash_add(&t->by_frame, hash, *out);
}

static inline int calltree_child(struct jsp_calltree *t, struct jsp_calltree_node n,
                                 uint32_t *out)
{
    uint64_t h = jsp_hash_mix(t->by_node.seed, (uint64_t)n.parent << 32 | n.frame);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&t->by_node, hash, &probe)) != 0)
        if (t->nodes[at - 1].parent == n.parent && t->nodes[at - 1].frame == n.frame) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&t->nodes, &t->nodes_room, t->n_nodes, sizeof *t->nodes) < 0)
        return -ENOMEM;
    t->nodes[t->n_nodes] = n;
    *out = t->n_nodes++;
    return jsp_hash_add(&t->by_node, hash, *out);
}

int jsp_calltree_frame(struct jsp_calltree *t, const struct jsp_profile_frame *f, uint32_t *out)
{
    return calltree_frame(t, f, out);
}

int jsp_calltree_child(struct jsp_calltree *t, struct jsp_calltree_node n, uint32_t *out)
{
    return calltree_child(t, n, out);
}

/* -- Building --------------------------------------------------------------- */

static inline int calltree_step(struct jsp_calltree *t, const struct jsp_calltree_source *s,
                                struct jsp_profile_frame *f, uint32_t *node)
{
    struct jsp_calltree_node next = { .parent = *node };
    int err = s->function ? s->function(s->context, f) : 0;
    next.frame = f->function;
    if (err == 0 && s->detail != JSP_CALLTREE_FUNCTIONS) {
        /* Clear the parts of the frame that the detail ignores. */
        if (s->detail == JSP_CALLTREE_KINDS)
            f->line = f->file = 0;
        if (s->detail == JSP_CALLTREE_PLACES) {
            f->kind = 0;
            f->origin = 0;
        }
        err = calltree_frame(t, f, &next.frame);
    }
    return err < 0 ? err : calltree_child(t, next, node);
}

/* Return the number of frames of the stack; 0: it does not count. */
static int calltree_stack(struct jsp_calltree *t, const struct jsp_calltree_source *s,
                          uint32_t stack, struct jsp_profile_frame *frames)
{
    struct jsp_calltree_place place = { 0 };
    int n = jsp_select_frames(s->select, s->profile, stack, frames), err = 0;
    if (n <= 0)
        return n;
    if (s->is_folded) {
        /* Fold direct recursion into one frame. */
        int kept = 1;
        for (int i = 1; i < n; i++)
            if (frames[i].function != frames[kept - 1].function)
                frames[kept++] = frames[i];
        n = kept;
    }
    place.line = frames[0].line;
    place.file = frames[0].file;
    for (int i = 0; s->places && i < n; i++)
        if (jsp_calltree_is_vm(&frames[i])) {
            place.vm_line = frames[i].line;
            place.vm_file = frames[i].file;
            break;
        }
    for (int i = 0; i < n && err == 0; i++)
        err = calltree_step(t, s, &frames[s->is_bottom_up ? i : n - 1 - i], &place.node);
    if (s->places)
        s->places[stack] = place;
    if (s->leaf)
        s->leaf[stack] = place.node;
    return err < 0 ? err : n;
}

int jsp_calltree_init(struct jsp_calltree *t)
{
    memset(t, 0, sizeof *t);
    int err = jsp_hash_init(&t->by_frame, 0);
    if (err == 0)
        err = jsp_hash_init(&t->by_node, 0);
    if (err == 0)
        err = jsp_grow(&t->nodes, &t->nodes_room, 0, sizeof *t->nodes);
    if (err == 0)
        t->nodes[t->n_nodes++] = (struct jsp_calltree_node){ 0, UINT32_MAX };
    return err;
}

int jsp_calltree_add(struct jsp_calltree *t, const struct jsp_calltree_source *s)
{
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int n = frames ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < s->profile->n_stacks && n >= 0; i++) {
        const struct jsp_stack *k = &s->profile->stacks[i];
        if (!jsp_select_has(s->select, k))
            continue;
        n = calltree_stack(t, s, i, frames);
        k = &s->profile->stacks[i];
        t->samples += n > 0 ? k->samples : 0;
        t->weight += n > 0 ? k->weight : 0;
        t->value += n > 0 ? k->value : 0;
    }
    free(frames);
    return n < 0 ? n : 0;
}

int jsp_calltree_of(struct jsp_calltree *t, struct jsp_profile *p,
                    const struct jsp_select *select, enum jsp_calltree_detail detail)
{
    struct jsp_calltree_source s = { .profile = p, .select = select, .detail = detail };
    int err = jsp_calltree_init(t);
    s.leaf = t->leaf = calloc((size_t)p->n_stacks + 1, sizeof *t->leaf);
    if (err == 0)
        err = t->leaf ? jsp_calltree_add(t, &s) : -ENOMEM;
    if (err == 0 && t->samples == 0)
        err = -ENODATA;
    if (err < 0)
        jsp_calltree_free(t);
    return err;
}

void jsp_calltree_free(struct jsp_calltree *t)
{
    jsp_hash_free(&t->by_frame);
    jsp_hash_free(&t->by_node);
    free(t->frames);
    free(t->nodes);
    free(t->leaf);
    memset(t, 0, sizeof *t);
}

/* -- Reading ---------------------------------------------------------------- */

uint32_t jsp_calltree_frames(const struct jsp_calltree *t, uint32_t node,
                           uint32_t out[JSP_PROFILE_DEPTH])
{
    uint32_t n = 0;
    for (; node && n < JSP_PROFILE_DEPTH; node = t->nodes[node].parent)
        out[n++] = t->nodes[node].frame;
    return n;
}

static int calltree_order(const void *left, const void *right)
{
    const struct jsp_calltree_count *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->state != b->state)
        return a->state < b->state ? -1 : 1;
    return a->labels < b->labels ? -1 : a->labels > b->labels;
}

static struct jsp_calltree_count *calltree_counts(const struct jsp_calltree *t,
                                                  const struct jsp_profile *p,
                                                  bool has_states, uint32_t *n)
{
    struct jsp_calltree_count *list = malloc(((size_t)p->n_stacks + 1) * sizeof *list);
    uint32_t all = 0;
    *n = 0;
    if (!list)
        return NULL;
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        const struct jsp_stack *k = &p->stacks[i];
        if (t->leaf[i])
            list[all++] = (struct jsp_calltree_count){
                k->thread, t->leaf[i], has_states ? k->state : 0, has_states ? k->labels : 0,
                k->samples, k->weight, k->value };
    }
    qsort(list, all, sizeof *list, calltree_order);
    for (uint32_t i = 0; i < all; i++) {
        struct jsp_calltree_count *last = *n ? &list[*n - 1] : NULL;
        if (!last || calltree_order(last, &list[i]) != 0) {
            list[(*n)++] = list[i];
            continue;
        }
        last->samples += list[i].samples;
        last->weight += list[i].weight;
        last->value += list[i].value;
    }
    return list;
}

struct jsp_calltree_count *jsp_calltree_counts(const struct jsp_calltree *t,
                                               const struct jsp_profile *p, uint32_t *n)
{
    return calltree_counts(t, p, false, n);
}

struct jsp_calltree_count *jsp_calltree_counts_of_states(const struct jsp_calltree *t,
                                                         const struct jsp_profile *p,
                                                         uint32_t *n)
{
    return calltree_counts(t, p, true, n);
}
