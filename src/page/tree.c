/* page/tree.c - the stacks of all captures as one tree: built, pruned, numbered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "page/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/diff.h"
#include "export/stacks.h"
#include "jsprof.h"

/* Limits: nodes of a page, and sizes of branches that are distinguished. */
enum { TREE_MOST = 400000, TREE_SIZES = 65536 };

static size_t tree_name(const struct jsp_page_tree *t, const char *name)
{
    return t->is_diff ? jsp_diff_name(name) : strlen(name);
}

static int tree_function(struct jsp_page_tree *t, const struct jsp_function *f,
                         uint32_t *out)
{
    size_t n = tree_name(t, f->name);
    uint64_t h = jsp_hash_bytes(t->by_function.seed, f->name, n);
    h = jsp_hash_mix(jsp_hash_bytes(h, f->module, strlen(f->module)), f->kind);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&t->by_function, hash, &probe)) != 0) {
        const struct jsp_page_function *is = &t->functions[at - 1];
        if (is->kind == f->kind && tree_name(t, is->name) == n &&
            memcmp(is->name, f->name, n) == 0 && strcmp(is->module, f->module) == 0) {
            *out = at - 1;
            return 0;
        }
    }
    if (jsp_grow(&t->functions, &t->functions_room, t->n_functions,
                 sizeof *t->functions) < 0)
        return -ENOMEM;
    *out = t->n_functions;
    t->functions[*out] = (struct jsp_page_function){ f->name, f->module, f->kind };
    return jsp_hash_add(&t->by_function, hash, t->n_functions++);
}

static int tree_frame(struct jsp_page_tree *t, struct jsp_page_frame f, uint32_t *out)
{
    uint64_t h = jsp_hash_mix(t->by_frame.seed, (uint64_t)f.function << 32 | f.kind);
    uint32_t hash = (uint32_t)(jsp_hash_mix(h, f.origin) >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&t->by_frame, hash, &probe)) != 0) {
        const struct jsp_page_frame *is = &t->frames[at - 1];
        if (is->function == f.function && is->kind == f.kind && is->origin == f.origin) {
            *out = at - 1;
            return 0;
        }
    }
    if (jsp_grow(&t->frames, &t->frames_room, t->n_frames, sizeof *t->frames) < 0)
        return -ENOMEM;
    *out = t->n_frames;
    t->frames[*out] = f;
    return jsp_hash_add(&t->by_frame, hash, t->n_frames++);
}

static int tree_node(struct jsp_page_tree *t, struct jsp_page_node n, uint32_t *out)
{
    if (jsp_grow(&t->nodes, &t->nodes_room, t->n_nodes, sizeof *t->nodes) < 0)
        return -ENOMEM;
    *out = t->n_nodes;
    t->nodes[t->n_nodes++] = n;
    return 0;
}

static int tree_child(struct jsp_page_tree *t, uint32_t parent, uint32_t frame,
                      uint32_t *out)
{
    uint64_t both = (uint64_t)parent << 32 | frame;
    uint32_t hash = (uint32_t)(jsp_hash_mix(t->by_child.seed, both) >> 16);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&t->by_child, hash, &probe)) != 0)
        if (t->nodes[at - 1].parent == parent && t->nodes[at - 1].frame == frame) {
            *out = at - 1;
            return 0;
        }
    int err = tree_node(t, (struct jsp_page_node){ .parent = parent, .frame = frame },
                        out);
    return err < 0 ? err : jsp_hash_add(&t->by_child, hash, *out);
}

/* The positions of one capture's frames and nodes in the common tree. */
struct tree_map {
    uint32_t *frame, *node;
};

static int tree_merge(struct jsp_page_tree *t, const struct jsp_profile *p,
                      const struct jsp_stacks *s, struct tree_map m)
{
    int err = 0;
    for (uint32_t i = 0; err == 0 && i < s->n_frames; i++) {
        const struct jsp_profile_frame *f = &s->frames[i];
        struct jsp_page_frame to = { .kind = f->kind, .origin = f->origin };
        err = tree_function(t, &p->functions[f->function], &to.function);
        if (err == 0)
            err = tree_frame(t, to, &m.frame[i]);
    }
    m.node[0] = 0;
    for (uint32_t i = 1; err == 0 && i < s->n_nodes; i++)
        err = tree_child(t, m.node[s->nodes[i].parent], m.frame[s->nodes[i].frame],
                         &m.node[i]);
    return err;
}

static void tree_leaves(struct jsp_page_tree *t, const struct jsp_profile *p,
                        const struct jsp_stacks *s, const uint32_t *node, uint32_t *leaf)
{
    for (uint32_t i = 0; i < p->n_stacks; i++) {
        leaf[i] = node[s->leaf[i]];
        if (leaf[i])
            t->nodes[leaf[i]].samples += p->stacks[i].samples;
    }
}

static int tree_capture(struct jsp_page_tree *t, const struct jsp_html *h, uint32_t which)
{
    const struct jsp_page_capture *c = &h->captures[which];
    uint32_t **leaf = &t->leaf[which];
    struct jsp_stacks s = { 0 };
    struct jsp_select select = c->select;
    select.show = JSP_SHOW_ALL;
    int err = jsp_stacks_build(&s, c->profile, &select, JSP_STACKS_FUNCTIONS);
    struct tree_map m = { calloc((size_t)s.n_frames + 1, sizeof *m.frame),
                          calloc((size_t)s.n_nodes + 1, sizeof *m.node) };
    *leaf = calloc((size_t)c->profile->n_stacks + 1, sizeof **leaf);
    bool is_empty = err == -ENODATA;
    t->empty |= (uint32_t)is_empty << which;
    if ((err == 0 || is_empty) && (!m.frame || !m.node || !*leaf))
        err = -ENOMEM;
    else if (is_empty)
        err = 0;
    else if (err == 0)
        err = tree_merge(t, c->profile, &s, m);
    if (err == 0 && !is_empty)
        tree_leaves(t, c->profile, &s, m.node, *leaf);
    free(m.frame);
    free(m.node);
    jsp_stacks_free(&s);
    return err;
}

/* Find the least number of samples of a branch such that at most TREE_MOST are kept. */
static int tree_least(struct jsp_page_tree *t)
{
    uint32_t *of_size = calloc(TREE_SIZES, sizeof *of_size), kept = 0, size;
    if (!of_size)
        return -ENOMEM;
    for (uint32_t i = 1; i < t->n_nodes; i++) {
        uint32_t n = t->nodes[i].samples;
        of_size[n < TREE_SIZES ? n : TREE_SIZES - 1]++;
    }
    for (size = TREE_SIZES - 1; size > 1; size--) {
        kept += of_size[size];
        if (kept + of_size[size - 1] > TREE_MOST)
            break;
    }
    t->least = size > 1 ? size : 0;
    free(of_size);
    return 0;
}

static int tree_prune(struct jsp_page_tree *t, const struct jsp_html *h)
{
    static const struct jsp_function smaller = { .name = "[smaller branches]",
                                                 .module = "",
                                                 .kind = JSPROF_KIND_SYNTH };
    struct jsp_page_frame frame = { .kind = JSPROF_KIND_SYNTH };
    uint32_t at;
    int err = tree_function(t, &smaller, &frame.function);
    if (err == 0)
        err = tree_frame(t, frame, &at);
    for (uint32_t c = 0; err == 0 && c < h->n; c++)
        for (uint32_t i = 0; err == 0 && i < h->captures[c].profile->n_stacks; i++) {
            uint32_t node = t->leaf[c][i];
            if (t->nodes[node].is_kept)
                continue;
            while (!t->nodes[node].is_kept)
                node = t->nodes[node].parent;
            err = tree_child(t, node, at, &t->leaf[c][i]);
            t->nodes[t->leaf[c][i]].is_kept = err == 0;
        }
    return err;
}

static int tree_keep(struct jsp_page_tree *t, const struct jsp_html *h)
{
    for (uint32_t i = t->n_nodes - 1; i > 0; i--)
        t->nodes[t->nodes[i].parent].samples += t->nodes[i].samples;
    int err = tree_least(t);
    for (uint32_t i = 0; i < t->n_nodes; i++)
        t->nodes[i].is_kept = i == 0 || t->nodes[i].samples >= t->least;
    return err < 0 || t->least == 0 ? err : tree_prune(t, h);
}

/* Return the node after `at` on a walk from the root, or 0 at the end. `up`: levels
 * climbed. */
static uint32_t tree_next(const struct jsp_page_tree *t, uint32_t at, uint32_t *up)
{
    *up = 0;
    if (t->nodes[at].first)
        return t->nodes[at].first;
    for (; at && !t->nodes[at].next; at = t->nodes[at].parent)
        (*up)++;
    return t->nodes[at].next;
}

static void tree_number(struct jsp_page_tree *t)
{
    uint32_t up;
    for (uint32_t i = t->n_nodes - 1; i > 0; i--)
        if (t->nodes[i].is_kept) {
            struct jsp_page_node *parent = &t->nodes[t->nodes[i].parent];
            t->nodes[i].next = parent->first;
            parent->first = i;
        }
    for (uint32_t at = 0; (at = tree_next(t, at, &up)) != 0;)
        t->nodes[at].number = ++t->n_numbered;
    t->n_numbered++;
}

int jsp_page_tree_build(struct jsp_page_tree *t, const struct jsp_html *h)
{
    uint32_t root;
    memset(t, 0, sizeof *t);
    t->is_diff = h->n > 1;
    int err = jsp_hash_init(&t->by_function, 0);
    if (err == 0)
        err = jsp_hash_init(&t->by_frame, 0);
    if (err == 0)
        err = jsp_hash_init(&t->by_child, 0);
    if (err == 0)
        err = tree_node(t, (struct jsp_page_node){ .frame = UINT32_MAX }, &root);
    for (uint32_t c = 0; err == 0 && c < h->n; c++)
        err = tree_capture(t, h, c);
    if (err == 0)
        err = tree_keep(t, h);
    if (err == 0)
        tree_number(t);
    return err;
}

void jsp_page_tree_free(struct jsp_page_tree *t)
{
    for (int c = 0; c < JSP_HTML_MOST; c++)
        free(t->leaf[c]);
    free(t->functions);
    free(t->frames);
    free(t->nodes);
    jsp_hash_free(&t->by_function);
    jsp_hash_free(&t->by_frame);
    jsp_hash_free(&t->by_child);
    memset(t, 0, sizeof *t);
}

struct tree_call {
    uint32_t from, to, index; /* from: frame + 1, 0 for the root */
};

struct tree_calls {
    struct tree_call *list;
    uint32_t *n_from; /* number of calls, by from */
    uint32_t n, room;
    struct jsp_hash by_call;
};

/* Find the index of this call among its caller's calls, in order of first sight. */
static int tree_call(struct tree_calls *c, uint32_t from, uint32_t to, uint32_t *index)
{
    uint64_t both = (uint64_t)from << 32 | to;
    uint32_t hash = (uint32_t)(jsp_hash_mix(c->by_call.seed, both) >> 16);
    uint32_t probe = hash, at;
    while ((at = jsp_hash_next(&c->by_call, hash, &probe)) != 0)
        if (c->list[at - 1].from == from && c->list[at - 1].to == to) {
            *index = c->list[at - 1].index;
            return 0;
        }
    if (jsp_grow(&c->list, &c->room, c->n, sizeof *c->list) < 0)
        return -ENOMEM;
    *index = c->n_from[from]++;
    c->list[c->n] = (struct tree_call){ from, to, *index };
    return jsp_hash_add(&c->by_call, hash, c->n++);
}

static int tree_walk(const struct jsp_page_tree *t, struct tree_calls *c,
                     struct jsp_page_bytes *out)
{
    uint32_t up = 0, index = 0, at = tree_next(t, 0, &up);
    int err = 0;
    while (err == 0 && at) {
        const struct jsp_page_node *n = &t->nodes[at];
        err = tree_call(c, t->nodes[n->parent].frame + 1, n->frame, &index);
        jsp_page_varint(out, (uint64_t)index << 1 | !n->first);
        bool is_leaf = !n->first;
        at = tree_next(t, at, &up);
        if (is_leaf)
            jsp_page_varint(out, up);
    }
    return err;
}

int jsp_page_tree_encode(const struct jsp_page_tree *t, struct jsp_page_bytes *out)
{
    struct tree_calls c = { .n_from = calloc((size_t)t->n_frames + 1,
                                             sizeof *c.n_from) };
    struct jsp_page_bytes nodes = { 0 };
    int err = c.n_from ? jsp_hash_init(&c.by_call, 0) : -ENOMEM;
    if (err == 0)
        err = tree_walk(t, &c, &nodes);
    jsp_page_varint(out, c.n);
    for (uint32_t i = 0; err == 0 && i < c.n; i++) {
        jsp_page_varint(out, c.list[i].from);
        jsp_page_varint(out, c.list[i].to);
    }
    if (err == 0)
        err = jsp_page_append(out, &nodes);
    jsp_page_bytes_free(&nodes);
    free(c.list);
    free(c.n_from);
    jsp_hash_free(&c.by_call);
    return err;
}
