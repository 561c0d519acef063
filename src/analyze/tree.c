/* analyze/tree.c - a profile as a call tree, from the roots or from the leaves.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>

#include "calltree.h"

/* A node of the report for each of the call tree, with what ended there. */
static int tree_nodes(struct jsp_tree *out, const struct jsp_calltree *calls,
                      const struct jsp_profile *p)
{
    out->nodes = calloc(calls->n_nodes, sizeof *out->nodes);
    if (!out->nodes)
        return -ENOMEM;
    out->n = calls->n_nodes;
    out->nodes[0].function = UINT32_MAX;
    for (uint32_t i = 1; i < out->n; i++) {
        const struct jsp_calltree_node *n = &calls->nodes[i];
        struct jsp_tree_node *to = &out->nodes[i];
        to->parent = n->parent;
        to->function = n->frame;
        if (calls->n_frames == 0)
            continue;
        const struct jsp_profile_frame *f = &calls->frames[n->frame];
        to->function = f->function;
        to->line = f->line;
        to->file = f->file;
    }
    for (uint32_t i = 0; i < p->n_stacks; i++)
        if (calls->leaf[i]) {
            out->nodes[calls->leaf[i]].self += p->stacks[i].value;
            out->nodes[calls->leaf[i]].n_samples += p->stacks[i].samples;
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
    struct jsp_calltree calls;
    struct jsp_calltree_source source = {
        .profile = p, .select = &options->select,
        .detail = options->has_lines ? JSP_CALLTREE_PLACES : JSP_CALLTREE_FUNCTIONS,
        .is_bottom_up = options->is_bottom_up, .is_folded = !options->is_recursive,
    };
    memset(out, 0, sizeof *out);
    int err = jsp_calltree_init(&calls);
    source.leaf = calls.leaf = calloc((size_t)p->n_stacks + 1, sizeof *calls.leaf);
    if (err == 0)
        err = calls.leaf ? jsp_calltree_add(&calls, &source) : -ENOMEM;
    if (err == 0)
        err = tree_nodes(out, &calls, p);
    if (err == 0) {
        /* Add each node to its parent. Bottom-up a stack begins below the root, so the samples
         * that end further down are that function's self. */
        for (uint32_t i = 0; i < out->n; i++)
            out->nodes[i].total = out->nodes[i].self;
        for (uint32_t i = out->n - 1; i > 0; i--) {
            struct jsp_tree_node *n = &out->nodes[i], *parent = &out->nodes[n->parent];
            parent->total += n->total;
            parent->n_samples += n->n_samples;
            if (options->is_bottom_up)
                n->self = n->parent == 0 ? n->total : 0;
        }
    }
    if (err == 0)
        err = tree_order(out);
    jsp_calltree_free(&calls);
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
