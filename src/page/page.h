/* page/page.h - a capture, or two to compare, as one page for a browser.
 *
 * The page contains everything: the code that draws (src/page/browser/) and the profile,
 * with stacks merged and samples counted by spans of time, so that a million samples make
 * a few megabytes. It makes no network request. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_PAGE_H
#define JSP_PAGE_PAGE_H

#include "analyze/select.h"
#include "of_readers.h"
#include "export/sink.h"

struct jsp_page_capture {
    struct jsp_profile *profile;
    struct jsp_select select; /* the page sets `show` itself */
    const struct jsp_profile_samples *times; /* all samples in their order */
    const char *label; /* shown to users, usually the file's name */
    uint64_t idle; /* value of the idle stacks that `select` leaves out */
};

enum { JSP_HTML_LOOP = 8 }; /* bit for the code of interpreters; the other bits are kinds */

struct jsp_html {
    /* in a comparison, the older one comes first */
    const struct jsp_page_capture *captures;
    uint32_t n;
    uint32_t hidden; /* bits of the kinds of frames that are hidden at first */
    struct jsp_sink *out;
    bool has_sources; /* the page contains the source files that its functions name */
    struct jsp_page_refused *refused; /* gets the files that do not look like sources, or NULL */
};

/* Write the page. Return 0, -ENOMEM, or -ENODATA if a capture has neither selected
 * samples nor calls. The sink keeps its own errors. */
int jsp_page_write(const struct jsp_html *h);

/* The page around the data, as bytes that the build makes from the files in
 * src/page/browser/ (see embed.sh there). */
extern const unsigned char jsp_page_frame_head[], jsp_page_frame_middle[],
    jsp_page_frame_tail[];
extern const unsigned int jsp_page_frame_head_size, jsp_page_frame_middle_size,
    jsp_page_frame_tail_size;

#endif
