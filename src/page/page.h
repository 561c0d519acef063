/* page/page.h - a capture, or two to compare, as one page for a browser.
 *
 * SPDX-License-Identifier: MIT
 *
 * The page holds everything: the code that draws (src/page/browser/) and the profile,
 * stacks merged and samples counted by spans of time, so that a million samples make a
 * few megabytes. It asks nothing of any network. One thread.
 */
#ifndef JSP_PAGE_PAGE_H
#define JSP_PAGE_PAGE_H

#include "analyze/select.h"
#include "export/sink.h"

/* The samples of a capture in their order, while it is loaded: give
 * jsp_page_times_add as `sampled` to jsp_profile_load. Starts zeroed. */
struct jsp_page_times {
    struct jsp_profile_sample *list;
    uint32_t n, room;
};
int jsp_page_times_add(void *times, const struct jsp_profile_sample *sample); /* -ENOMEM */
void jsp_page_times_free(struct jsp_page_times *t);

struct jsp_page_capture {
    struct jsp_profile *profile;
    struct jsp_select select; /* `show` is the page's own matter */
    const struct jsp_page_times *times;
    const char *label; /* for people, as a rule the file's name */
};

enum {
    JSP_HTML_MOST = 2, /* captures on a page */
    JSP_HTML_LOOP = 8, /* bit of interpreters' own code; the others are those of kinds */
};

struct jsp_html {
    const struct jsp_page_capture *captures; /* what was before comes first */
    uint32_t n;
    uint32_t hidden; /* kinds of frames that are switched off at first, by bit */
    struct jsp_sink *out;
};

/* -ENOMEM; -ENODATA: nothing of a capture counts, nor was a call counted. The sink keeps
 * its own errors. */
int jsp_page_write(const struct jsp_html *h);

#endif
