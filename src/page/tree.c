/* page/tree.c - the stacks of all captures as one tree: built, pruned, numbered.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tree.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/diff.h"
#include "jsprof.h"

/* Limits: nodes of a page, their bytes, and sizes of branches that are distinguished. */
enum { TREE_MOST = 400000, TREE_BYTES = 660000, TREE_SIZES = 65536 };

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

/* A capture whose stacks are being added. */
struct tree_capture {
    struct jsp_page_tree *tree;
    const struct jsp_profile *profile;
    uint32_t *of_function; /* number in the page + 1, by the profile's; 0: not known yet */
    uint32_t n, room;
};

static int tree_of_page(void *context, struct jsp_profile_frame *f)
{
    struct tree_capture *c = context;
    uint32_t n = c->profile->n_functions;
    if (n > c->n) { /* resolving a stack may find functions */
        if (jsp_grow_by(&c->of_function, &c->room, c->n, n - c->n, sizeof *c->of_function) < 0)
            return -ENOMEM;
        memset(c->of_function + c->n, 0, (n - c->n) * sizeof *c->of_function);
        c->n = n;
    }
    uint32_t *number = &c->of_function[f->function];
    int err = 0;
    if (!*number) {
        err = tree_function(c->tree, &c->profile->functions[f->function], number);
        *number += err == 0;
    }
    f->function = *number - 1;
    return err;
}

static int tree_capture(struct jsp_page_tree *t, const struct jsp_html *h, uint32_t which)
{
    const struct jsp_page_capture *c = &h->captures[which];
    struct tree_capture of = { .tree = t, .profile = c->profile };
    struct jsp_select select = c->select;
    struct jsp_calltree_source source = {
        .profile = c->profile, .select = &select, .detail = JSP_CALLTREE_KINDS,
        .function = tree_of_page, .context = &of,
    };
    uint64_t before = t->calls.samples;
    select.show = JSP_SHOW_ALL;
    source.places = t->places[which] =
        calloc((size_t)c->profile->n_stacks + 1, sizeof *source.places);
    int err = source.places ? jsp_calltree_add(&t->calls, &source) : -ENOMEM;
    t->empty |= (uint32_t)(t->calls.samples == before) << which;
    free(of.of_function);
    return err;
}

/* Make a node of the page for each of the call tree, with the samples that end there. */
static int tree_nodes(struct jsp_page_tree *t, const struct jsp_html *h)
{
    if (jsp_grow_by(&t->nodes, &t->nodes_room, 0, t->calls.n_nodes, sizeof *t->nodes) < 0)
        return -ENOMEM;
    memset(t->nodes, 0, t->calls.n_nodes * sizeof *t->nodes);
    t->n_nodes = t->calls.n_nodes;
    for (uint32_t c = 0; c < h->n; c++)
        for (uint32_t i = 0; i < h->captures[c].profile->n_stacks; i++)
            if (t->places[c][i].node)
                t->nodes[t->places[c][i].node].samples += h->captures[c].profile->stacks[i].samples;
    return 0;
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

static int tree_calls_init(struct tree_calls *c, const struct jsp_page_tree *t)
{
    *c = (struct tree_calls){
        .n_from = calloc((size_t)t->calls.n_frames + 1, sizeof *c->n_from),
    };
    return c->n_from ? jsp_hash_init(&c->by_call, 0) : -ENOMEM;
}

static void tree_calls_free(struct tree_calls *c)
{
    free(c->list);
    free(c->n_from);
    jsp_hash_free(&c->by_call);
}

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

/* Count the nodes of each size, in units of 1 << shift. */
static void tree_sizes(const struct jsp_page_tree *t, uint32_t *of_size, unsigned shift)
{
    memset(of_size, 0, TREE_SIZES * sizeof *of_size);
    for (uint32_t i = 1; i < t->n_nodes; i++) {
        uint32_t n = t->nodes[i].samples >> shift;
        of_size[n < TREE_SIZES ? n : TREE_SIZES - 1]++;
    }
}

/* Find the least number of samples of a branch such that at most `most` are kept. */
static int tree_least(struct jsp_page_tree *t, uint32_t most)
{
    uint32_t *of_size = malloc(TREE_SIZES * sizeof *of_size), kept = 0, size;
    unsigned shift = 0;
    if (!of_size)
        return -ENOMEM;
    tree_sizes(t, of_size, shift);
    while (of_size[TREE_SIZES - 1] > most && shift < 16) {
        shift += 8; /* too many are larger than all sizes that are distinguished */
        tree_sizes(t, of_size, shift);
    }
    for (size = TREE_SIZES - 1; size > 1; size--) {
        kept += of_size[size];
        if (kept + of_size[size - 1] > most)
            break;
    }
    t->least = size > 1 ? size << shift : 0;
    free(of_size);
    return 0;
}

/* A node for branches that the page does not get. */
static int tree_smaller(struct jsp_page_tree *t, struct jsp_calltree_node node, uint32_t *out)
{
    int err = jsp_calltree_child(&t->calls, node, out);
    if (err == 0 && *out == t->n_nodes) {
        err = jsp_grow(&t->nodes, &t->nodes_room, t->n_nodes, sizeof *t->nodes);
        if (err == 0)
            t->nodes[t->n_nodes++] = (struct jsp_page_node){ .is_kept = true };
    }
    return err;
}

static int tree_prune(struct jsp_page_tree *t, const struct jsp_html *h)
{
    static const struct jsp_function smaller = { .name = "[smaller branches]",
                                                 .module = "",
                                                 .kind = JSPROF_KIND_SYNTH };
    struct jsp_profile_frame frame = { .kind = JSPROF_KIND_SYNTH };
    uint32_t at;
    int err = tree_function(t, &smaller, &frame.function);
    if (err == 0)
        err = jsp_calltree_frame(&t->calls, &frame, &at);
    for (uint32_t c = 0; err == 0 && c < h->n; c++)
        for (uint32_t i = 0; err == 0 && i < h->captures[c].profile->n_stacks; i++) {
            uint32_t node = t->places[c][i].node;
            if (t->nodes[node].is_kept)
                continue;
            while (!t->nodes[node].is_kept)
                node = t->calls.nodes[node].parent;
            err = tree_smaller(t, (struct jsp_calltree_node){ node, at }, &t->places[c][i].node);
        }
    return err;
}

static uint32_t tree_bytes_of(uint64_t value)
{
    uint32_t n = 1;
    for (; value > 127; value >>= 7)
        n++;
    return n;
}

/* Find how many bytes the kept nodes take, in the shorter of the two forms. */
static int tree_bytes(const struct jsp_page_tree *t, uint64_t *bytes)
{
    struct tree_calls c;
    uint64_t direct = 0, indexed = 0;
    uint32_t index = 0;
    int err = tree_calls_init(&c, t);
    for (uint32_t i = 1; err == 0 && i < t->n_nodes; i++) {
        const struct jsp_calltree_node *n = &t->calls.nodes[i];
        uint32_t from = t->calls.nodes[n->parent].frame + 1, known = c.n;
        if (!t->nodes[i].is_kept)
            continue;
        err = tree_call(&c, from, n->frame, &index);
        if (c.n > known)
            indexed += tree_bytes_of(from) + tree_bytes_of(n->frame);
        indexed += tree_bytes_of((uint64_t)index << 1);
        direct += tree_bytes_of((uint64_t)n->frame << 1);
    }
    *bytes = direct < indexed ? direct : indexed;
    tree_calls_free(&c);
    return err;
}

/* Keep the largest branches: as many as the limits allow. */
static int tree_keep(struct jsp_page_tree *t, const struct jsp_html *h)
{
    uint64_t bytes = 0;
    int err = 0;
    for (uint32_t i = t->n_nodes - 1; i > 0; i--)
        t->nodes[t->calls.nodes[i].parent].samples += t->nodes[i].samples;
    for (uint32_t most = TREE_MOST; err == 0 && most;
         most = (uint32_t)((uint64_t)most * TREE_BYTES / bytes) * 49 / 50) {
        err = tree_least(t, most);
        for (uint32_t i = 0; i < t->n_nodes; i++)
            t->nodes[i].is_kept = i == 0 || t->nodes[i].samples >= t->least;
        if (err == 0)
            err = tree_bytes(t, &bytes);
        if (bytes <= TREE_BYTES)
            break;
    }
    return err < 0 || t->least == 0 ? err : tree_prune(t, h);
}

/* Return the node after `at` on a walk from the root, or 0 at the end. `up`: levels
 * climbed. */
static uint32_t tree_next(const struct jsp_page_tree *t, uint32_t at, uint32_t *up)
{
    *up = 0;
    if (t->nodes[at].first)
        return t->nodes[at].first;
    for (; at && !t->nodes[at].next; at = t->calls.nodes[at].parent)
        (*up)++;
    return t->nodes[at].next;
}

static void tree_number(struct jsp_page_tree *t)
{
    uint32_t up;
    for (uint32_t i = t->n_nodes - 1; i > 0; i--)
        if (t->nodes[i].is_kept) {
            struct jsp_page_node *parent = &t->nodes[t->calls.nodes[i].parent];
            t->nodes[i].next = parent->first;
            parent->first = i;
        }
    for (uint32_t at = 0; (at = tree_next(t, at, &up)) != 0;)
        t->nodes[at].number = ++t->n_numbered;
    t->n_numbered++;
}

int jsp_page_tree_build(struct jsp_page_tree *t, const struct jsp_html *h)
{
    memset(t, 0, sizeof *t);
    t->is_diff = h->n > 1;
    int err = jsp_hash_init(&t->by_function, 0);
    if (err == 0)
        err = jsp_calltree_init(&t->calls);
    for (uint32_t c = 0; err == 0 && c < h->n; c++)
        err = tree_capture(t, h, c);
    if (err == 0)
        err = tree_nodes(t, h);
    if (err == 0)
        err = tree_keep(t, h);
    if (err == 0)
        tree_number(t);
    return err;
}

void jsp_page_tree_free(struct jsp_page_tree *t)
{
    for (int c = 0; c < JSP_HTML_MOST; c++)
        free(t->places[c]);
    free(t->functions);
    free(t->nodes);
    jsp_hash_free(&t->by_function);
    jsp_calltree_free(&t->calls);
    memset(t, 0, sizeof *t);
}

/* Write the calls, and the nodes by the indexes of their calls. Without the first the nodes are
 * written by their frames. */
static void tree_put(const struct tree_calls *c, const struct jsp_page_bytes *nodes,
                     struct jsp_page_bytes *out)
{
    jsp_page_varint(out, c ? c->n : 0);
    for (uint32_t i = 0; c && i < c->n; i++) {
        jsp_page_varint(out, c->list[i].from);
        jsp_page_varint(out, c->list[i].to);
    }
    jsp_page_append(out, nodes);
}

int jsp_page_tree_encode(const struct jsp_page_tree *t, struct jsp_page_bytes *out)
{
    struct tree_calls c;
    struct jsp_page_bytes indexed = { 0 }, direct = { 0 }, table = { 0 };
    int err = tree_calls_init(&c, t);
    uint32_t up, index = 0, at = tree_next(t, 0, &up);
    while (err == 0 && at) {
        const struct jsp_calltree_node *n = &t->calls.nodes[at];
        bool is_leaf = !t->nodes[at].first;
        err = tree_call(&c, t->calls.nodes[n->parent].frame + 1, n->frame, &index);
        jsp_page_varint(&indexed, (uint64_t)index << 1 | is_leaf);
        jsp_page_varint(&direct, (uint64_t)n->frame << 1 | is_leaf);
        at = tree_next(t, at, &up);
        if (is_leaf) {
            jsp_page_varint(&indexed, up);
            jsp_page_varint(&direct, up);
        }
    }
    if (err == 0) {
        tree_put(&c, &indexed, &table);
        if (table.n <= direct.n)
            err = jsp_page_append(out, &table);
        else
            tree_put(NULL, &direct, out);
    }
    if (err == 0)
        err = indexed.error ? indexed.error : direct.error ? direct.error
            : table.error ? table.error : out->error;
    jsp_page_bytes_free(&indexed);
    jsp_page_bytes_free(&direct);
    jsp_page_bytes_free(&table);
    tree_calls_free(&c);
    return err;
}
