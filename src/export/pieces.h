/* export/pieces.h - text that occurs again and again, made once.
 *
 * SPDX-License-Identifier: MIT
 *
 * A sample's stack takes most of a file that is written sample by sample, and most
 * stacks were there before. One thread.
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
    struct jsp_sink into; /* where a piece is made */
};

int jsp_pieces_init(struct jsp_pieces *p, uint32_t n); /* -ENOMEM */
void jsp_pieces_free(struct jsp_pieces *p);

/* Whether a piece is to be made still: then write it to p->into and call put. */
bool jsp_pieces_wants(struct jsp_pieces *p, uint32_t piece);
void jsp_pieces_put(struct jsp_pieces *p, uint32_t piece, struct jsp_sink *out);

#endif
