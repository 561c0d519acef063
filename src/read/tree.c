/* read/tree.c - the call tree.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/tree.h"

/* A node in the order in which the user gets them: before its children. */
struct tree_place {
    uint32_t node, parent, depth, next;
};

struct jsprof_read_tree {
    jsprof_reader *reader;
    struct jsp_tree tree;
    struct tree_place *places; /* tree.n of them */
};

/* Number the nodes. The tree has any depth, so no call is nested: `stack` has for each open node
 * the number of its next child. */
static int tree_order(jsprof_read_tree *t)
{
    const struct jsp_tree *tree = &t->tree;
    uint32_t *of = calloc((size_t)tree->n + 1, sizeof *of); /* the place of each node */
    uint32_t *done = calloc((size_t)tree->n + 1, sizeof *done);
    t->places = calloc((size_t)tree->n + 1, sizeof *t->places);
    uint32_t n = tree->n ? 1 : 0, at = 0;
    bool is_open = n && of && done && t->places;
    while (is_open) {
        const struct jsp_tree_node *node = &tree->nodes[at];
        if (done[at] < node->n_children) {
            uint32_t child = tree->order[node->first_child + done[at]++];
            t->places[n] = (struct tree_place){ child, of[at], t->places[of[at]].depth + 1, 0 };
            of[child] = n++;
            at = child;
        } else {
            t->places[of[at]].next = n;
            is_open = at != 0;
            at = node->parent;
        }
    }
    bool has_memory = of && done && t->places;
    free(of);
    free(done);
    return has_memory ? 0 : -ENOMEM;
}

int jsprof_read_tree_open(jsprof_read_tree **out, jsprof_reader *r,
                          const jsprof_read_shape *shape, jsprof_read_error *error)
{
    jsprof_read_shape s;
    jsprof_read_tree *t = calloc(1, sizeof *t);
    if (!t)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    jsp_reader_take(&s, sizeof s, shape);
    struct jsp_tree_options options = { .select = r->choice.select,
                                              .is_bottom_up = s.is_bottom_up,
                                              .has_lines = s.has_lines,
                                              .is_recursive = s.is_recursive };
    options.select.is_async = s.is_async != 0;
    t->reader = r;
    int err = jsp_tree_build(&t->tree, &r->profile, &options);
    if (err == 0)
        err = tree_order(t);
    if (err) {
        jsprof_read_tree_close(t);
        return jsp_reader_errno(error, err, NULL);
    }
    *out = t;
    return 0;
}

static jsprof_read_node tree_node(const jsprof_read_tree *t, const struct tree_place *place)
{
    const struct jsp_profile *p = &t->reader->profile;
    const struct jsp_tree_node *from = &t->tree.nodes[place->node];
    jsprof_read_node node = { .parent = place->parent, .depth = place->depth,
                              .n_children = from->n_children, .next = place->next,
                              .self = from->self, .total = from->total,
                              .samples = from->n_samples, .name = "", .kind = "", .module = "",
                              .file = "" };
    if (!place->depth)
        return node;
    const struct jsp_function *f = &p->functions[from->function];
    node.met = place->node;
    node.function = from->function;
    node.line = from->line;
    node.name = f->name;
    node.kind = jsp_kind_name(f->kind);
    node.module = f->module;
    node.file = from->file ? p->files[from->file] : "";
    return node;
}

int64_t jsprof_read_nodes(const jsprof_read_tree *t, uint64_t first, jsprof_read_node *out,
                          uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(t->tree.n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const jsprof_read_node node = tree_node(t, &t->places[first + i]);
        jsp_reader_give(out, i, &node, sizeof node);
    }
    return rows;
}

void jsprof_read_tree_close(jsprof_read_tree *t)
{
    if (!t)
        return;
    jsp_tree_free(&t->tree);
    free(t->places);
    free(t);
}
