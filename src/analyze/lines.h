/* analyze/lines.h - the lines of native code: what there is to ask, where answers go.
 *
 * SPDX-License-Identifier: MIT
 *
 * The lines of native code stand in debug information, which other programs read.
 * Collect, have somebody answer, and the frames of the profile's stacks have lines from
 * then on. One thread.
 */
#ifndef JSP_ANALYZE_LINES_H
#define JSP_ANALYZE_LINES_H

#include "analyze/select.h"

struct jsp_line_ask {
    struct jsp_native_place at; /* file: in the profile's natives */
    uint32_t place;             /* whose line it is */
};

struct jsp_line_asks {
    struct jsp_line_ask *list; /* sorted by file, then address */
    uint32_t n, room;
};

/* Every native address of the selected stacks whose file could be read. -ENOMEM. */
int jsp_lines_collect(struct jsp_profile *p, const struct jsp_select *select,
                      struct jsp_line_asks *out);

/* Line 0 is not known. -ENOMEM. */
struct jsp_line {
    struct jsp_read_text file;
    uint32_t line;
};
int jsp_lines_answer(struct jsp_profile *p, const struct jsp_line_ask *ask,
                     struct jsp_line answer);

void jsp_lines_free(struct jsp_line_asks *asks);

#endif
