/* export/sides.h - writes what SAMPLE frames cannot hold: blocks of jsprof/samples and of
 * jsprof/pcs.
 *
 * SPDX-License-Identifier: MIT
 *
 * Samples are added in the order of their frames. A full block is handed on at once, the
 * rest by jsp_sides_flush. One thread.
 */
#ifndef JSP_EXPORT_SIDES_H
#define JSP_EXPORT_SIDES_H

#include "analyze/bytecode.h"
#include "analyze/samples.h"
#include "capture/embedded.h"

enum {
    JSP_SIDES_HEAD = JSP_EMBEDDED_BLOCK,
    JSP_SIDES_BLOCK = JSP_WIRE_MAX_CHUNK - JSP_SIDES_HEAD,
};

/* Take one whole chunk of an embedded file. */
typedef void jsp_sides_chunk(void *context, const char *path, const void *data, size_t n);

struct jsp_sides_block {
    const char *path;
    uint64_t first, next; /* numbers of its first sample, and of the next one */
    uint32_t count, used;
    uint8_t bytes[JSP_SIDES_HEAD + JSP_SIDES_BLOCK];
};

struct jsp_sides {
    jsp_sides_chunk *chunk;
    void *context;
    struct jsp_sides_block weights, pcs;
};

void jsp_sides_init(struct jsp_sides *s, jsp_sides_chunk *chunk, void *context);

/* Add the weight and the lines of the sample that becomes SAMPLE frame number `ordinal`.
 * Return false if they do not fit into any chunk. */
bool jsp_sides_weight(struct jsp_sides *s, const struct jsp_profile *p,
                      const struct jsp_sample *sample, uint64_t ordinal);

/* Add the sample's rows, leaf first; n may be 0. */
void jsp_sides_rows(struct jsp_sides *s, const uint32_t *rows, uint32_t n, uint64_t ordinal);

void jsp_sides_flush(struct jsp_sides *s);

/* Read the rows of a sample, from wherever the capture has them, into `out`, which has
 * room for JSP_PROFILE_DEPTH. Return how many there are. */
uint32_t jsp_sides_rows_of(const struct jsp_profile *p, struct jsp_bytecode_pcs *pcs,
                           const struct jsp_sample *sample, uint32_t *out);

#endif
