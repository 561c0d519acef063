/* page/stacks.c - the ends of samples: node, thread, line, state and labels.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stacks.h"

#include <errno.h>
#include <stdlib.h>

struct stacks_key {
    struct jsp_page_stack is;
    uint32_t capture, at; /* at: position in jsp_page_stacks.of */
};

static const struct jsp_page_place stacks_nowhere = { { "", 0 }, { "", 0 }, 0 };

struct stacks_build {
    const struct jsp_html *h;
    const struct jsp_page_tree *tree;
    const struct jsp_page_labels *labels;
    const uint32_t *rows; /* by sample, or NULL */
    struct jsp_page_stacks *out;
    struct stacks_key *keys;
    uint32_t n, room;
};

static bool stacks_is_line(const struct jsp_page_line *a, const struct jsp_page_line *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static int stacks_place(struct jsp_page_stacks *s, struct jsp_page_place p, uint32_t *out)
{
    uint64_t h = jsp_hash_bytes(s->by_place.seed, p.leaf.file, strlen(p.leaf.file));
    h = jsp_hash_bytes(jsp_hash_mix(h, p.leaf.line), p.vm.file, strlen(p.vm.file));
    h = jsp_hash_mix(h, (uint64_t)p.row << 32 | p.vm.line);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&s->by_place, hash, &probe)) != 0)
        if (stacks_is_line(&s->places[at - 1].leaf, &p.leaf) &&
            stacks_is_line(&s->places[at - 1].vm, &p.vm) && s->places[at - 1].row == p.row) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&s->places, &s->places_room, s->n_places, sizeof *s->places) < 0)
        return -ENOMEM;
    *out = s->n_places;
    s->places[s->n_places] = p;
    return jsp_hash_add(&s->by_place, hash, s->n_places++);
}

/* Find the lines where a stack ends. A merged smaller branch has none, because it has many
 * lines. */
static int stacks_line(struct stacks_build *b, const struct stacks_key *k,
                       const struct jsp_calltree_place *end, uint32_t *out)
{
    const struct jsp_profile *p = b->h->captures[k->capture].profile;
    struct jsp_page_place place = stacks_nowhere;
    if (b->tree->nodes[end->node].samples >= b->tree->least) {
        place.leaf.line = end->line;
        place.leaf.file = end->file ? p->files[end->file] : "";
        place.vm.line = end->vm_line;
        place.vm.file = end->vm_file ? p->files[end->vm_file] : "";
        place.row = b->rows ? b->rows[k->at] : 0;
    }
    return stacks_place(b->out, place, out);
}

static int stacks_capture(struct stacks_build *b, uint32_t capture, uint32_t thread)
{
    const struct jsp_profile *p = b->h->captures[capture].profile;
    const struct jsp_calltree_place *places = b->tree->places[capture];
    const struct jsp_profile_samples *times = b->h->captures[capture].times;
    uint32_t n = b->rows ? times->n : p->n_stacks;
    int err = 0;
    for (uint32_t at = 0; err == 0 && at < n; at++) {
        uint32_t i = b->rows ? times->list[at].stack : at;
        if (places[i].node == 0)
            continue;
        if (jsp_grow(&b->keys, &b->room, b->n, sizeof *b->keys) < 0)
            return -ENOMEM;
        struct stacks_key *k = &b->keys[b->n++];
        *k = (struct stacks_key){ .capture = capture, .at = at };
        k->is.node = b->tree->nodes[places[i].node].number;
        k->is.thread = thread + p->stacks[i].thread;
        k->is.state = jsp_profile_state(p, i)->state;
        k->is.labels = b->labels->of[capture][p->stacks[i].labels];
        err = stacks_line(b, k, &places[i], &k->is.place);
    }
    return err;
}

static int stacks_compare(const void *left, const void *right)
{
    /* a key begins with a jsp_page_stack */
    const struct jsp_page_stack *a = left, *b = right;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->state != b->state)
        return a->state < b->state ? -1 : 1;
    return (a->labels > b->labels) - (a->labels < b->labels);
}

static int stacks_unique(struct stacks_build *b)
{
    struct jsp_page_stacks *s = b->out;
    if (b->n)
        qsort(b->keys, b->n, sizeof *b->keys, stacks_compare);
    s->list = calloc((size_t)b->n + 1, sizeof *s->list);
    if (!s->list)
        return -ENOMEM;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct stacks_key *k = &b->keys[i];
        if (s->n == 0 || stacks_compare(&s->list[s->n - 1], k) != 0)
            s->list[s->n++] = k->is;
        s->of[k->capture][k->at] = s->n;
    }
    return 0;
}

int jsp_page_stacks_build(struct jsp_page_stacks *s, const struct jsp_html *h,
                          const struct jsp_page_tree *t, const struct jsp_page_listings *l,
                          const struct jsp_page_labels *labels)
{
    uint32_t thread = 0, none;
    memset(s, 0, sizeof *s);
    struct stacks_build b = { .h = h, .tree = t, .labels = labels, .rows = l->rows, .out = s };
    s->is_by_sample = l->rows != NULL;
    int err = jsp_hash_init(&s->by_place, 0);
    if (err == 0)
        err = stacks_place(s, stacks_nowhere, &none);
    for (uint32_t c = 0; err == 0 && c < h->n; c++) {
        const struct jsp_profile *p = h->captures[c].profile;
        uint32_t n = l->rows ? h->captures[c].times->n : p->n_stacks;
        s->of[c] = calloc((size_t)n + 1, sizeof *s->of[c]);
        err = s->of[c] ? stacks_capture(&b, c, thread) : -ENOMEM;
        thread += p->n_threads;
    }
    if (err == 0)
        err = stacks_unique(&b);
    free(b.keys);
    return err;
}

void jsp_page_stacks_free(struct jsp_page_stacks *s)
{
    for (int c = 0; c < JSP_HTML_MOST; c++)
        free(s->of[c]);
    free(s->list);
    free(s->places);
    jsp_hash_free(&s->by_place);
    memset(s, 0, sizeof *s);
}

void jsp_page_stacks_encode(const struct jsp_page_stacks *s, struct jsp_page_bytes *out)
{
    struct jsp_page_stack before = { 0 };
    for (uint32_t i = 0; i < s->n; i++) {
        const struct jsp_page_stack *is = &s->list[i];
        bool is_same = is->thread == before.thread;
        jsp_page_varint(out, (uint64_t)(is->node - before.node) << 1 | is_same);
        if (!is_same)
            jsp_page_varint(out, is->thread);
        jsp_page_varint(out, is->place);
        before = *is;
    }
}
