/* analyze/filter.h - which stacks count, by what stands on them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Judges the frames that a selection shows: what matches is asked once for each
 * function and kept. One thread.
 */
#ifndef JSP_ANALYZE_FILTER_H
#define JSP_ANALYZE_FILTER_H

#include <regex.h>

#include "analyze/categories.h"

/* Borrowed as long as the filter lives. */
struct jsp_filter_options {
    const char *only;     /* extended regular expression: some frame's name matches */
    const char *under;    /* a function: it is there; its callers are cut off */
    const char *category; /* the innermost frame is of this one */
    const struct jsp_categories *categories; /* may be NULL where category is */
    bool hide_system;     /* frames of jsp_categories_is_system are left out */
};

struct jsp_filter;

/* Does the pattern match somewhere? 1, 0, or -ENOMEM. */
int jsp_filter_matches(const regex_t *pattern, const char *text);

enum { JSP_FILTER_WHY = 200 };

/* -EINVAL: no such expression or category, one line in `why`; -ENOMEM. */
int jsp_filter_open(struct jsp_filter **out, const struct jsp_filter_options *options,
                    char why[JSP_FILTER_WHY]);
void jsp_filter_close(struct jsp_filter *f); /* NULL is fine */

/* Keep what counts of n frames, leaf first. Returns how many; 0: the stack does not
 * count; -ENOMEM. */
int jsp_filter_frames(struct jsp_filter *f, struct jsp_profile *p,
                      struct jsp_profile_frame *frames, int n);

/* Does a function answer to this name: all of it, or without its "(file:line)" or its
 * "(arguments)"? */
bool jsp_filter_names(const struct jsp_function *f, const char *name);

#endif
