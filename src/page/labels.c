/* page/labels.c - the labels of samples: keys, their values, and sets of them.
 *
 * SPDX-License-Identifier: MIT
 */
#include "labels.h"

#include <errno.h>
#include <stdlib.h>

/* Limits of a page: values of a key, sets, and values in all sets. */
enum { LABELS_VALUES = 100, LABELS_SETS = 1000, LABELS_PAIRS = 20000 };

static uint32_t labels_text_hash(uint64_t seed, struct jsp_read_text text)
{
    return (uint32_t)(jsp_hash_bytes(seed, text.at, text.len) >> 16);
}

static int labels_key(struct jsp_page_labels *l, struct jsp_read_text name, uint32_t *out)
{
    uint32_t hash = labels_text_hash(l->by_key.seed, name), probe = hash, at;
    while ((at = jsp_hash_next(&l->by_key, hash, &probe)) != 0)
        if (jsp_read_equal(l->keys[at - 1].name, name)) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&l->keys, &l->keys_room, l->n_keys, sizeof *l->keys) < 0)
        return -ENOMEM;
    *out = l->n_keys;
    l->keys[*out] = (struct jsp_page_label_key){ name, 0, 0, 0 };
    return jsp_hash_add(&l->by_key, hash, l->n_keys++);
}

static int labels_value(struct jsp_page_labels *l, const struct jsp_labels_pair *pair,
                        uint32_t *out)
{
    uint32_t key, at;
    int err = labels_key(l, pair->key, &key);
    if (err < 0)
        return err;
    uint32_t hash = labels_text_hash(jsp_hash_mix(l->by_value.seed, key), pair->value);
    uint32_t probe = hash;
    while ((at = jsp_hash_next(&l->by_value, hash, &probe)) != 0)
        if (l->values[at - 1].key == key && jsp_read_equal(l->values[at - 1].text, pair->value)) {
            *out = at - 1;
            return 0;
        }
    if (jsp_grow(&l->values, &l->values_room, l->n_values, sizeof *l->values) < 0)
        return -ENOMEM;
    *out = l->n_values;
    struct jsp_page_label_key *of = &l->keys[key];
    l->values[*out] = (struct jsp_page_label_value){ pair->value, key, ++of->n_values, 0 };
    if (of->n_values == 1)
        of->first = *out;
    else
        l->values[of->last].next = *out;
    of->last = *out;
    return jsp_hash_add(&l->by_value, hash, l->n_values++);
}

/* Find or add the set of the last values of pairs[], from `first`. */
static int labels_set(struct jsp_page_labels *l, uint32_t first, uint32_t *out)
{
    const struct jsp_page_label_set set = { first, l->n_pairs - first };
    const uint32_t *pairs = l->pairs ? l->pairs + first : NULL;
    uint64_t h = jsp_hash_mix(l->by_set.seed, set.n);
    for (uint32_t i = 0; i < set.n; i++)
        h = jsp_hash_mix(h, pairs[i]);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&l->by_set, hash, &probe)) != 0) {
        const struct jsp_page_label_set *s = &l->sets[at - 1];
        if (s->n == set.n &&
            (!set.n || memcmp(l->pairs + s->first, pairs, set.n * sizeof *pairs) == 0)) {
            *out = at - 1;
            l->n_pairs = first;
            return 0;
        }
    }
    if (jsp_grow(&l->sets, &l->sets_room, l->n_sets, sizeof *l->sets) < 0)
        return -ENOMEM;
    *out = l->n_sets;
    l->sets[l->n_sets] = set;
    return jsp_hash_add(&l->by_set, hash, l->n_sets++);
}

/* Make a set of the values whose keys are not left out. */
static int labels_reduce(struct jsp_page_labels *l, const struct jsp_label_set *from,
                         uint32_t *out)
{
    uint32_t first = l->n_pairs, value;
    for (uint32_t i = 0; i < from->n; i++) {
        int err = labels_value(l, &from->pairs[i], &value);
        if (err == 0 && l->keys[l->values[value].key].n_values > l->most)
            continue;
        if (err == 0)
            err = jsp_grow(&l->pairs, &l->pairs_room, l->n_pairs, sizeof *l->pairs);
        if (err < 0)
            return err;
        l->pairs[l->n_pairs++] = value;
    }
    return labels_set(l, first, out);
}

/* Make the sets anew. Store whether they are few enough. */
static int labels_sets(struct jsp_page_labels *l, const struct jsp_html *h, bool *fits)
{
    uint32_t empty;
    l->n_sets = l->n_pairs = 0;
    jsp_hash_free(&l->by_set);
    int err = jsp_hash_init(&l->by_set, 0);
    if (err == 0)
        err = labels_set(l, 0, &empty);
    *fits = true;
    for (uint32_t c = 0; c < h->n; c++) {
        const struct jsp_labels_read *from = &h->captures[c].profile->labels;
        for (uint32_t i = 1; err == 0 && *fits && i < from->n_sets; i++) {
            if (l->of[c][i])
                err = labels_reduce(l, &from->sets[i], &l->of[c][i]);
            if (!l->of[c][i]) /* it has none of the kept keys, or nothing counts */
                continue;
            *fits = l->n_sets <= LABELS_SETS && l->n_pairs <= LABELS_PAIRS;
        }
    }
    return err;
}

/* Mark the sets that stacks of the page have, and count their values. */
static int labels_used(struct jsp_page_labels *l, const struct jsp_html *h,
                       const struct jsp_page_tree *t)
{
    uint32_t value;
    for (uint32_t c = 0; c < h->n; c++) {
        const struct jsp_profile *p = h->captures[c].profile;
        l->of[c] = calloc((size_t)p->labels.n_sets + 1, sizeof *l->of[c]);
        if (!l->of[c])
            return -ENOMEM;
        for (uint32_t i = 0; i < p->n_stacks; i++)
            if (t->places[c][i].node)
                l->of[c][p->stacks[i].labels] = 1;
        for (uint32_t i = 1; i < p->labels.n_sets; i++)
            for (uint32_t k = 0; l->of[c][i] && k < p->labels.sets[i].n; k++)
                if (labels_value(l, &p->labels.sets[i].pairs[k], &value) < 0)
                    return -ENOMEM;
        l->of[c][0] = 0;
    }
    return 0;
}

int jsp_page_labels_build(struct jsp_page_labels *l, const struct jsp_html *h,
                          const struct jsp_page_tree *t)
{
    bool fits = false;
    memset(l, 0, sizeof *l);
    int err = jsp_hash_init(&l->by_key, 0);
    if (err == 0)
        err = jsp_hash_init(&l->by_value, 0);
    if (err == 0)
        err = labels_used(l, h, t);
    for (l->most = LABELS_VALUES; err == 0; l->most /= 2) {
        err = labels_sets(l, h, &fits);
        if (fits)
            break;
    }
    return err;
}

void jsp_page_labels_free(struct jsp_page_labels *l)
{
    for (int c = 0; c < JSP_HTML_MOST; c++)
        free(l->of[c]);
    free(l->keys);
    free(l->values);
    free(l->sets);
    free(l->pairs);
    jsp_hash_free(&l->by_key);
    jsp_hash_free(&l->by_value);
    jsp_hash_free(&l->by_set);
    memset(l, 0, sizeof *l);
}

static void labels_put_keys(const struct jsp_page_labels *l, struct jsp_json *j)
{
    jsp_json_key_open(j, "labelKeys", '[');
    for (uint32_t i = 0; i < l->n_keys; i++) {
        const struct jsp_page_label_key *key = &l->keys[i];
        jsp_json_open(j, '[');
        jsp_json_bytes(j, key->name.at, key->name.len);
        if (key->n_values > l->most)
            jsp_json_u64(j, key->n_values);
        else
            for (uint32_t v = key->first, n = 0; n < key->n_values; v = l->values[v].next, n++)
                jsp_json_bytes(j, l->values[v].text.at, l->values[v].text.len);
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, ']');
}

void jsp_page_labels_put(const struct jsp_page_labels *l, struct jsp_json *j)
{
    if (!l->n_keys)
        return;
    labels_put_keys(l, j);
    jsp_json_key_open(j, "labelSets", '[');
    for (uint32_t i = 0; i < l->n_sets; i++) {
        jsp_json_open(j, '[');
        for (uint32_t k = 0; k < l->sets[i].n; k++) {
            const struct jsp_page_label_value *v = &l->values[l->pairs[l->sets[i].first + k]];
            jsp_json_u64(j, v->key);
            jsp_json_u64(j, v->number);
        }
        jsp_json_close(j, ']');
    }
    jsp_json_close(j, ']');
}
