/* read/calls.h - exact calls that are open; for src/read.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_READ_CALLS_H
#define JSP_READ_CALLS_H

#include "reader.h"

#include "analyze/exact.h"

/* Numbers in order, as far as they were asked for. */
struct jsp_reader_order {
    uint32_t *at;      /* owned */
    uint32_t n, all;   /* so many are sorted; so many there are */
};

struct jsprof_read_calls {
    jsprof_reader *reader;
    struct jsp_exact of;
    const char *command;
    enum jsp_exact_sort sort;
    struct jsp_reader_order functions, edges;
};

#endif
