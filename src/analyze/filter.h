/* analyze/filter.h - a filter of stacks, by the functions on them.
 *
 * It looks at the frames that a selection shows. Each function is matched once and the
 * result kept. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_FILTER_H
#define JSP_ANALYZE_FILTER_H

#include <regex.h>

#include "categories.h"

/* The strings are borrowed as long as the filter lives. */
struct jsp_filter_options {
    /* extended regular expression: a stack counts if a frame's name matches */
    const char *only;
    /* a function: a stack counts if it has it; its callers are cut off */
    const char *under;
    const char *category; /* a stack counts if its innermost frame is of this category */
    const struct jsp_categories *categories; /* may be NULL if category is */
    bool hide_system;     /* drop frames of jsp_categories_is_system */
    /* Frames that are not the innermost one of a category, also where they are shown: of native
     * code, and of interpreters' own code. */
    bool skips_natives, skips_loops;
};

struct jsp_filter;

/* Return 1 if the pattern matches somewhere, 0 if not, or -ENOMEM. */
int jsp_filter_matches(const regex_t *pattern, const char *text);

enum { JSP_FILTER_WHY = 200 };

/* Open a filter. Return 0, -ENOMEM, or -EINVAL for a bad expression or an unknown
 * category, with one line of explanation in `why`. */
int jsp_filter_open(struct jsp_filter **out, const struct jsp_filter_options *options,
                    char why[JSP_FILTER_WHY]);
void jsp_filter_close(struct jsp_filter *f); /* NULL is allowed */

/* Keep those of the n frames (leaf first) that count. Return how many; 0: the stack does
 * not count; or -ENOMEM. */
int jsp_filter_frames(struct jsp_filter *f, struct jsp_profile *p,
                      struct jsp_profile_frame *frames, int n);

/* Return true if the function has this name, with or without its "(file:line)" or
 * "(arguments)". */
bool jsp_filter_names(const struct jsp_function *f, const char *name);

#endif
