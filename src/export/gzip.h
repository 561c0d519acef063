/* export/gzip.h - a gzip file around bytes, without compressing them.
 *
 * Readers of pprof expect gzip, and the command uses no library but libc: deflate's
 * stored blocks are enough. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_GZIP_H
#define JSP_EXPORT_GZIP_H

#include "sink.h"

struct jsp_gzip {
    struct jsp_sink *out;
    uint32_t crc, size;
};

void jsp_gzip_start(struct jsp_gzip *g, struct jsp_sink *out);
int jsp_gzip_write(void *context, const void *bytes, size_t n); /* context: a jsp_gzip */
void jsp_gzip_end(struct jsp_gzip *g);

#endif
