/* export/html_stacks.h - where samples end: node, thread and line, as the page gets it.
 *
 * SPDX-License-Identifier: MIT
 *
 * Stacks of a profile that differ only in lines further out, or in branches that were
 * too small to keep, are one here. Threads of all captures are counted through.
 * For the html*.c files only.
 */
#ifndef JSP_EXPORT_HTML_STACKS_H
#define JSP_EXPORT_HTML_STACKS_H

#include "export/html_tree.h"

struct jsp_html_place { /* a line of code; place 0 is none */
    const char *file;   /* "": as the function's name says */
    uint32_t line;
};

struct jsp_html_stack {
    uint32_t node; /* its number */
    uint32_t thread, place;
};

struct jsp_html_stacks {
    struct jsp_html_stack *list; /* sorted by node, thread, place */
    struct jsp_html_place *places;
    uint32_t n, n_places;
    uint32_t *of[JSP_HTML_MOST]; /* by capture and stack of its profile: position + 1 in
                                  * list; 0: it does not count */
    uint32_t places_room;
    struct jsp_hash by_place;
};

/* -ENOMEM; jsp_html_stacks_free in any case. */
int jsp_html_stacks_build(struct jsp_html_stacks *s, const struct jsp_html *h,
                          const struct jsp_html_tree *t);
void jsp_html_stacks_free(struct jsp_html_stacks *s);

/* For each: {nodes since the one before << 1 | same thread as before} [thread] place. */
void jsp_html_stacks_encode(const struct jsp_html_stacks *s, struct jsp_html_bytes *out);

#endif
