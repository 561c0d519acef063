/* export/text_cache.h - a cache of texts that occur repeatedly.
 *
 * A file with one entry for each sample consists mostly of stacks, and most stacks
 * occurred before. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_TEXT_CACHE_H
#define JSP_EXPORT_TEXT_CACHE_H

#include <stdbool.h>

#include "sink.h"

struct jsp_text_cache_text {
    size_t at, len;
};

struct jsp_text_cache {
    struct jsp_text_cache_text *list;
    struct jsp_bytes texts;
    struct jsp_sink into; /* new pieces are written here */
};

/* Lay out a cache for `n` pieces. Return 0 or -ENOMEM. */
int jsp_text_cache_init(struct jsp_text_cache *p, uint32_t n);

/* Free the cache. */
void jsp_text_cache_free(struct jsp_text_cache *p);

/* Return true if the piece is new: then write it to p->into and call put. */
bool jsp_text_cache_wants(struct jsp_text_cache *p, uint32_t piece);

/* Put the piece into the sink; one that is new has been written to p->into. */
void jsp_text_cache_put(struct jsp_text_cache *p, uint32_t piece, struct jsp_sink *out);

#endif
