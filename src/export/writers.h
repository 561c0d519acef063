/* export/writers.h - what is written of readers that are open: exports, and captures joined to one.
 *
 * For the command, which knows a reader by include/jsprof-read.h alone. What counts in the
 * reader is what is written. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_WRITERS_H
#define JSP_EXPORT_WRITERS_H

#include "formats.h"
#include "jsprof-read.h"
#include "sink.h"

/* Write in this format; `title` is usually the file's name. Return as jsp_export_write. */
int jsp_export_of_reader(jsp_export_write *write, jsprof_reader *r, struct jsp_sink *out,
                         const char *title);

/* Return why the samples of two captures can not be added up, or NULL if they can. */
const char *jsp_merge_refuses_reader(const jsprof_reader *a, const jsprof_reader *b);

/* What the writing came to; see export/merge.h. */
struct jsp_merged {
    uint32_t renumbered, moved, left_out;
};

/* Join captures that were opened completely. Return 0 or -ENOMEM. */
int jsp_merge_readers(jsprof_reader *const *readers, uint32_t n, struct jsp_sink *out,
                      struct jsp_merged *merged);

#endif
