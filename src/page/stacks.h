/* page/stacks.h - the ends of samples (node, thread, line, state, labels), as the page gets them.
 *
 * An end has two lines: that of its innermost frame, and that of its innermost function of the VM.
 * The second one counts where the page hides the frames of the interpreter, or native ones.
 *
 * Stacks of a profile that differ only in lines further out, or in branches that were too
 * small to keep, are merged here. Threads are numbered through all captures. For src/page
 * only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_STACKS_H
#define JSP_PAGE_STACKS_H

#include "labels.h"
#include "listings.h"
#include "tree.h"

struct jsp_page_line {
    const char *file; /* "": the file in the function's name */
    uint32_t line;    /* 0: unknown */
};

struct jsp_page_place { /* place 0 has no lines */
    struct jsp_page_line leaf, vm;
    uint32_t row; /* of the listing of the function of the VM, + 1; 0: unknown */
};

struct jsp_page_stack {
    uint32_t node; /* the node's number */
    uint32_t thread, place;
    enum jsp_state state; /* it and the labels are written with the metadata */
    uint32_t labels;      /* in jsp_page_labels.sets */
};

struct jsp_page_stacks {
    struct jsp_page_stack *list; /* sorted by these */
    struct jsp_page_place *places;
    uint32_t n, n_places;
    /* by capture and stack of its profile, or else sample: position + 1 in list; 0: not selected */
    uint32_t *of[JSP_HTML_MOST];
    bool is_by_sample; /* samples of equal stacks have different rows */
    uint32_t places_room;
    struct jsp_hash by_place;
};

/* Build the list. Return 0 or -ENOMEM. Call jsp_page_stacks_free in any case. */
int jsp_page_stacks_build(struct jsp_page_stacks *s, const struct jsp_html *h,
                          const struct jsp_page_tree *t, const struct jsp_page_listings *l,
                          const struct jsp_page_labels *labels);

/* Free the list. */
void jsp_page_stacks_free(struct jsp_page_stacks *s);

/* Write for each stack: {nodes since the previous one << 1 | same thread as the previous
 * one} [thread] place. */
void jsp_page_stacks_encode(const struct jsp_page_stacks *s, struct jsp_page_bytes *out);

#endif
