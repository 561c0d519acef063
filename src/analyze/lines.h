/* analyze/lines.h - the source lines of native code.
 *
 * The lines of native code are stored in debug information, which other programs read.
 * Collect the addresses, let such a program find their lines, and store its answers: then
 * the frames of the profile's stacks have lines. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_LINES_H
#define JSP_ANALYZE_LINES_H

#include "select.h"

struct jsp_line_ask {
    struct jsp_native_place at; /* file: in the profile's natives */
    uint32_t place;             /* the place to which the line belongs */
};

struct jsp_line_asks {
    struct jsp_line_ask *list; /* sorted by file, then address */
    uint32_t n, room;
};

/* Collect every native address of the selected stacks whose file could be read. Return 0
 * or -ENOMEM. */
int jsp_lines_collect(struct jsp_profile *p, const struct jsp_select *select,
                      struct jsp_line_asks *out);

/* The line of an address; line 0: unknown. jsp_lines_answer stores it. Returns 0 or
 * -ENOMEM. */
struct jsp_line {
    struct jsp_read_text file;
    uint32_t line;
};
int jsp_lines_answer(struct jsp_profile *p, const struct jsp_line_ask *ask,
                     struct jsp_line answer);

/* Free the questions. */
void jsp_lines_free(struct jsp_line_asks *asks);

#endif
