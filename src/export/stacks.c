/* stacks.c - the stacks of a profile as one tree of frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "export/stacks.h"

#include <errno.h>
#include <stdlib.h>

static bool stacks_same(const struct jsp_profile_frame *a,
                        const struct jsp_profile_frame *b)
{
    return a->function == b->function && a->line == b->line && a->file == b->file &&
           a->kind == b->kind && a->origin == b->origin;
}

static int stacks_frame(struct jsp_stacks *s, const struct jsp_profile_frame *f,
                        uint32_t *out)
{
    uint64_t h = jsp_hash_mix(s->by_frame.seed, (uint64_t)f->function << 32 | f->line);
    h = jsp_hash_mix(h, (uint64_t)f->file << 32 | f->kind << 8 | (uint32_t)f->origin);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&s->by_frame, hash, &probe)) != 0)
        if (stacks_same(&s->frames[at - 1], f)) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&s->frames, &s->frames_room, s->n_frames, sizeof *s->frames) < 0)
        return -ENOMEM;
    s->frames[s->n_frames] = *f;
    *out = s->n_frames++;
    return jsp_hash_add(&s->by_frame, hash, *out);
}

static int stacks_node(struct jsp_stacks *s, struct jsp_stacks_node n, uint32_t *out)
{
    uint64_t h = jsp_hash_mix(s->by_node.seed, (uint64_t)n.parent << 32 | n.frame);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&s->by_node, hash, &probe)) != 0)
        if (s->nodes[at - 1].parent == n.parent && s->nodes[at - 1].frame == n.frame) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&s->nodes, &s->nodes_room, s->n_nodes, sizeof *s->nodes) < 0)
        return -ENOMEM;
    s->nodes[s->n_nodes] = n;
    *out = s->n_nodes++;
    return jsp_hash_add(&s->by_node, hash, *out);
}

static int stacks_add(struct jsp_stacks *s, struct jsp_profile_frame *frames, int n,
                      enum jsp_stacks_detail detail, uint32_t *leaf)
{
    struct jsp_stacks_node node = { 0 };
    int err = 0;
    for (int i = n - 1; i >= 0 && err == 0; i--) {
        if (detail == JSP_STACKS_FUNCTIONS)
            frames[i].line = frames[i].file = 0;
        err = stacks_frame(s, &frames[i], &node.frame);
        if (err == 0)
            err = stacks_node(s, node, &node.parent);
    }
    *leaf = node.parent;
    return err;
}

static int stacks_start(struct jsp_stacks *s, const struct jsp_profile *p)
{
    memset(s, 0, sizeof *s);
    int err = jsp_hash_init(&s->by_frame, 0);
    if (err == 0)
        err = jsp_hash_init(&s->by_node, 0);
    s->leaf = calloc((size_t)p->n_stacks + 1, sizeof *s->leaf);
    if (err == 0)
        err = jsp_grow(&s->nodes, &s->nodes_room, 0, sizeof *s->nodes);
    if (err < 0 || !s->leaf)
        return -ENOMEM;
    s->nodes[s->n_nodes++] = (struct jsp_stacks_node){ 0 };
    return 0;
}

int jsp_stacks_build(struct jsp_stacks *s, struct jsp_profile *p,
                     const struct jsp_select *select, enum jsp_stacks_detail detail)
{
    struct jsp_profile_frame *frames = malloc(JSP_PROFILE_DEPTH * sizeof *frames);
    int err = stacks_start(s, p);
    if (!frames)
        err = -ENOMEM;
    for (uint32_t i = 0; i < p->n_stacks && err == 0; i++) {
        if (!jsp_select_has(select, &p->stacks[i]))
            continue;
        int n = jsp_select_frames(select, p, i, frames);
        err = n < 0 ? n : stacks_add(s, frames, n, detail, &s->leaf[i]);
        if (err == 0 && n > 0) {
            s->samples += p->stacks[i].samples;
            s->weight += p->stacks[i].weight;
            s->value += p->stacks[i].value;
        }
    }
    free(frames);
    if (err == 0 && s->samples == 0)
        err = -ENODATA;
    if (err < 0)
        jsp_stacks_free(s);
    return err;
}

void jsp_stacks_free(struct jsp_stacks *s)
{
    jsp_hash_free(&s->by_frame);
    jsp_hash_free(&s->by_node);
    free(s->frames);
    free(s->nodes);
    free(s->leaf);
    memset(s, 0, sizeof *s);
}

uint32_t jsp_stacks_frames(const struct jsp_stacks *s, uint32_t node,
                           uint32_t out[JSP_PROFILE_DEPTH])
{
    uint32_t n = 0;
    for (; node && n < JSP_PROFILE_DEPTH; node = s->nodes[node].parent)
        out[n++] = s->nodes[node].frame;
    return n;
}

static int stacks_order(const void *left, const void *right)
{
    const struct jsp_stacks_count *a = left, *b = right;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    return a->node < b->node ? -1 : a->node > b->node;
}

static uint32_t stacks_sum_up(struct jsp_stacks_count *list, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || stacks_order(&list[kept - 1], &list[i]) != 0) {
            list[kept++] = list[i];
            continue;
        }
        list[kept - 1].samples += list[i].samples;
        list[kept - 1].weight += list[i].weight;
        list[kept - 1].value += list[i].value;
    }
    return kept;
}

struct jsp_stacks_count *jsp_stacks_counts(const struct jsp_stacks *s,
                                           const struct jsp_profile *p, uint32_t *n)
{
    struct jsp_stacks_count *list = malloc(((size_t)p->n_stacks + 1) * sizeof *list);
    *n = 0;
    for (uint32_t i = 0; list && i < p->n_stacks; i++) {
        const struct jsp_stack *k = &p->stacks[i];
        if (s->leaf[i])
            list[(*n)++] = (struct jsp_stacks_count){ k->thread, s->leaf[i], k->samples,
                                                      k->weight, k->value };
    }
    if (list)
        qsort(list, *n, sizeof *list, stacks_order);
    *n = list ? stacks_sum_up(list, *n) : 0;
    return list;
}
