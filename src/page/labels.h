/* page/labels.h - the labels of samples, as the page gets them: as sets of values.
 *
 * A key with too many values, as the number of a request, is not on the page, which names it; nor
 * does it keep stacks apart there. For src/page only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_LABELS_H
#define JSP_PAGE_LABELS_H

#include "export/json.h"
#include "tree.h"

struct jsp_page_label_key {
    struct jsp_read_text name;
    uint32_t n_values, first, last; /* in values[] */
};

struct jsp_page_label_value {
    struct jsp_read_text text;
    uint32_t key, number; /* number: among those of its key, from 1 */
    uint32_t next;        /* of its key; 0: none */
};

struct jsp_page_label_set {
    uint32_t first, n; /* in pairs[] */
};

struct jsp_page_labels {
    struct jsp_page_label_key *keys; /* in the order in which they are first seen */
    struct jsp_page_label_value *values;
    struct jsp_page_label_set *sets; /* sets[0] is empty */
    uint32_t *pairs;                 /* values of sets, by key */
    uint32_t *of[JSP_HTML_MOST];     /* by capture and set of its profile: number in sets */
    uint32_t most;                   /* keys with more values than this are left out */
    uint32_t n_keys, n_values, n_sets, n_pairs;

    uint32_t keys_room, values_room, sets_room, pairs_room;
    struct jsp_hash by_key, by_value, by_set;
};

/* Find the labels of the stacks that the tree has. Return 0 or -ENOMEM. Call jsp_page_labels_free
 * in any case. */
int jsp_page_labels_build(struct jsp_page_labels *l, const struct jsp_html *h,
                          const struct jsp_page_tree *t);

/* Free the labels. */
void jsp_page_labels_free(struct jsp_page_labels *l);

/* Write, if there are labels,
 *   "labelKeys": [[key, value, ...] or, left out, [key, number of values], ...],
 *   "labelSets": [[position of the key, number of its value from 1, ...], ...] */
void jsp_page_labels_put(const struct jsp_page_labels *l, struct jsp_json *j);

#endif
