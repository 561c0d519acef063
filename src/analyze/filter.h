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
    /* Extended regular expressions. A stack counts if a frame's name matches `only`, and if
     * none matches `without`. Frames whose name matches `hide` are dropped. */
    const char *only, *without, *hide;
    /* A stack counts if it has this function, or one that matches `focus`; its callers are cut
     * off. */
    const char *under, *focus;
    /* A stack counts if it has a frame of this kind; the callers of the innermost one are cut
     * off. It is 1 + the kind; 0: any stack counts. JSPROF_KIND_VM includes compiled code. */
    uint32_t top_of;
    const char *category; /* a stack counts if its innermost frame is of this category */
    const struct jsp_categories *categories; /* may be NULL if category is */
    bool hide_system;     /* drop frames of jsp_categories_is_system */
    /* A function that calls itself, also through others, is on a stack once: frames between its
     * outermost and its innermost call are dropped. */
    bool is_collapsed;
    /* Frames that are not the innermost one of a category, also where they are shown: of native
     * code, and of interpreters' own code. */
    bool skips_natives, skips_loops;
};

struct jsp_filter;

/* Return 1 if the pattern matches somewhere, 0 if not, or -ENOMEM. */
int jsp_filter_matches(const regex_t *pattern, const char *text);

enum { JSP_FILTER_WHY = 200 };

/* Open a filter. Return 0, -ENOMEM, or -EINVAL for a bad expression or an unknown
 * category, with one line of explanation in `why`, which begins with the option's name. */
int jsp_filter_open(struct jsp_filter **out, const struct jsp_filter_options *options,
                    char why[JSP_FILTER_WHY]);

/* Free the filter. NULL does nothing. */
void jsp_filter_close(struct jsp_filter *f);

/* Keep those of the n frames (leaf first) that count. Return how many; 0: the stack does
 * not count; or -ENOMEM. */
int jsp_filter_frames(struct jsp_filter *f, struct jsp_profile *p,
                      struct jsp_profile_frame *frames, int n);

/* Return true if the function has this name, with or without its "(file:line)" or
 * "(arguments)". */
bool jsp_filter_names(const struct jsp_function *f, const char *name);

#endif
