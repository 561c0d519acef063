/* export/pieces.h - a cache of texts that occur repeatedly.
 *
 * SPDX-License-Identifier: MIT
 *
 * A file with one entry for each sample consists mostly of stacks, and most stacks
 * occurred before. One thread.
 */
#ifndef JSP_EXPORT_PIECES_H
#define JSP_EXPORT_PIECES_H

#include <stdbool.h>

#include "export/sink.h"

struct jsp_pieces_piece {
    size_t at, len;
};

struct jsp_pieces {
    struct jsp_pieces_piece *list;
    struct jsp_bytes texts;
    struct jsp_sink into; /* new pieces are written here */
};

int jsp_pieces_init(struct jsp_pieces *p, uint32_t n); /* 0 or -ENOMEM */
void jsp_pieces_free(struct jsp_pieces *p);

/* Return true if the piece is new: then write it to p->into and call put. */
bool jsp_pieces_wants(struct jsp_pieces *p, uint32_t piece);
void jsp_pieces_put(struct jsp_pieces *p, uint32_t piece, struct jsp_sink *out);

#endif
