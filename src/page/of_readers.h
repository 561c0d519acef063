/* page/of_readers.h - the page of one or two readers that are open.
 *
 * For the command, which knows a reader by include/jsprof-read.h alone. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_OF_READERS_H
#define JSP_PAGE_OF_READERS_H

#include "jsprof-read.h"
#include "export/sink.h"

enum { JSP_HTML_MOST = 2 }; /* captures on a page */

/* Files that can be read, but not put into the page. Starts zeroed. */
struct jsp_page_refused {
    uint32_t n;
    char *first; /* a path; the caller frees it */
};

struct jsp_page_readers {
    /* opened with JSPROF_READ_ROWS; in a comparison, the older one comes first */
    jsprof_reader *readers[JSP_HTML_MOST];
    const char *labels[JSP_HTML_MOST]; /* shown to users, usually the files' names */
    uint32_t n;
    bool has_sources; /* the page contains the source files that its functions name */
};

/* Write the page of what counts. It has all frames; at first it shows those that the choice of the
 * first reader shows. Return as jsp_page_write. */
int jsp_page_of_readers(const struct jsp_page_readers *h, struct jsp_sink *out,
                        struct jsp_page_refused *refused);

#endif
