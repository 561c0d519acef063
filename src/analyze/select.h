/* analyze/select.h - a selection of the stacks of a profile, and of their frames.
 *
 * A frame that is not shown is dropped from its stack; its own cost goes to the nearest
 * shown frame that called it. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_SELECT_H
#define JSP_ANALYZE_SELECT_H

#include "filter.h"

enum jsp_show {
    JSP_SHOW_USUAL, /* all but the code of interpreters */
    JSP_SHOW_ALL,
    JSP_SHOW_VM,    /* no native frames */
};

struct jsp_select {
    const bool *threads; /* NULL: all; or a flag for each thread of the profile */
    enum jsp_show show;
    struct jsp_filter *filter; /* NULL: every stack counts */
    bool is_async; /* append the chain of the task that ran; the profile has tasks */
    const bool *left_out; /* NULL: none; or a flag for each stack that does not count */
};

/* Return true if the stack's thread is selected. */
static inline bool jsp_select_has(const struct jsp_select *s, const struct jsp_stack *k)
{
    return !s || !s->threads || s->threads[k->thread];
}

/* Store the shown frames of a stack, leaf first; `s` NULL selects like a zeroed one.
 * Return how many; 0: the stack does not count; or -ENOMEM. */
int jsp_select_frames(const struct jsp_select *s, struct jsp_profile *p, uint32_t stack,
                      struct jsp_profile_frame out[JSP_PROFILE_DEPTH]);

/* Look up the functions of all selected stacks, of hidden frames, too. Return 0 or -ENOMEM. */
int jsp_select_resolve(const struct jsp_select *s, struct jsp_profile *p);

#endif
