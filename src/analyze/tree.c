/* tree.c - a profile as a call tree, from the roots or from the leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "analyze/tree.h"

#include <errno.h>
#include <stdlib.h>

struct tree_build {
    struct jsp_profile *p;
    const struct jsp_tree_options *options;
    struct jsp_tree *out;
    uint32_t room;
    struct jsp_hash children; /* (parent, function, line) -> node */
    struct jsp_profile_frame frames[JSP_PROFILE_DEPTH];
};

static int tree_append(struct tree_build *b, struct jsp_tree_node node)
{
    struct jsp_tree *t = b->out;
    if (jsp_grow(&t->nodes, &b->room, t->n, sizeof *t->nodes) < 0)
        return -ENOMEM;
    t->nodes[t->n++] = node;
    return 0;
}

static int tree_child(struct tree_build *b, uint32_t parent, struct jsp_profile_frame f,
                      uint32_t *out)
{
    if (!b->options->has_lines)
        f.line = f.file = 0;
    uint64_t both = (uint64_t)parent << 32 | f.function;
    uint64_t h = jsp_hash_mix(b->children.seed, both);
    uint32_t hash =
        (uint32_t)(jsp_hash_mix(h, (uint64_t)f.file << 32 | f.line) >> 16);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&b->children, hash, &probe)) != 0) {
        const struct jsp_tree_node *n = &b->out->nodes[at - 1];
        if (n->parent == parent && n->function == f.function && n->line == f.line &&
            n->file == f.file) {
            *out = at - 1;
            return 0;
        }
    }
    *out = b->out->n;
    struct jsp_tree_node node = { .function = f.function,
                                  .parent = parent,
                                  .line = f.line,
                                  .file = f.file };
    int err = tree_append(b, node);
    return err < 0 ? err : jsp_hash_add(&b->children, hash, *out);
}

static void tree_count(struct jsp_tree_node *n, const struct jsp_stack *k)
{
    n->total += k->value;
    n->n_samples += k->samples;
}

/* Fold direct recursion into one frame. Return how many frames are left. */
static int tree_fold(struct jsp_profile_frame *frames, int n)
{
    int kept = 1;
    for (int i = 1; i < n; i++)
        if (frames[i].function != frames[kept - 1].function)
            frames[kept++] = frames[i];
    return kept;
}

static int tree_stack(struct tree_build *b, uint32_t stack)
{
    const struct jsp_stack *k = &b->p->stacks[stack];
    bool is_up = b->options->is_bottom_up;
    int n = jsp_select_frames(&b->options->select, b->p, stack, b->frames);
    if (n <= 0)
        return n;
    if (!b->options->is_recursive)
        n = tree_fold(b->frames, n);
    uint32_t at = 0;
    tree_count(&b->out->nodes[0], k);
    for (int i = 0; i < n; i++) {
        int err = tree_child(b, at, b->frames[is_up ? i : n - 1 - i], &at);
        if (err < 0)
            return err;
        tree_count(&b->out->nodes[at], k);
        if (i == (is_up ? 0 : n - 1))
            b->out->nodes[at].self += k->value;
    }
    return 0;
}

struct tree_key {
    uint64_t total;
    uint32_t parent, node;
};

static int tree_compare(const void *a, const void *b)
{
    const struct tree_key *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->total != y->total)
        return x->total > y->total ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Put siblings together, the largest first. Node 0 has no parent and is left out. */
static int tree_order(struct jsp_tree *t)
{
    struct tree_key *keys = malloc(t->n * sizeof *keys);
    t->order = calloc(t->n, sizeof *t->order);
    if (!keys || !t->order) {
        free(keys);
        return -ENOMEM;
    }
    for (uint32_t i = 1; i < t->n; i++)
        keys[i - 1] = (struct tree_key){ t->nodes[i].total, t->nodes[i].parent, i };
    qsort(keys, t->n - 1, sizeof *keys, tree_compare);
    for (uint32_t i = 0; i + 1 < t->n; i++) {
        struct jsp_tree_node *parent = &t->nodes[keys[i].parent];
        if (parent->n_children++ == 0)
            parent->first_child = i;
        t->order[i] = keys[i].node;
    }
    free(keys);
    return 0;
}

int jsp_tree_build(struct jsp_tree *out, struct jsp_profile *p,
                   const struct jsp_tree_options *options)
{
    memset(out, 0, sizeof *out);
    struct tree_build *b = calloc(1, sizeof *b);
    if (!b)
        return -ENOMEM;
    b->p = p;
    b->options = options;
    b->out = out;
    int err = jsp_hash_init(&b->children, 0);
    if (err == 0)
        err = tree_append(b, (struct jsp_tree_node){ .function = UINT32_MAX });
    for (uint32_t i = 0; err == 0 && i < p->n_stacks; i++)
        if (jsp_select_has(&options->select, &p->stacks[i]))
            err = tree_stack(b, i);
    if (err == 0)
        err = tree_order(out);
    jsp_hash_free(&b->children);
    free(b);
    if (err < 0)
        jsp_tree_free(out);
    return err;
}

void jsp_tree_free(struct jsp_tree *t)
{
    free(t->nodes);
    free(t->order);
    memset(t, 0, sizeof *t);
}
