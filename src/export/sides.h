/* export/sides.h - what SAMPLE frames can not say, for a capture that is written:
 * blocks of jsprof/samples and of jsprof/pcs.
 *
 * SPDX-License-Identifier: MIT
 *
 * Samples are told in the order of their frames. A block that is full is handed on by
 * itself, what is left at jsp_sides_flush. One thread.
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

/* A whole chunk of an embedded file. */
typedef void jsp_sides_chunk(void *context, const char *path, const void *data, size_t n);

struct jsp_sides_block {
    const char *path;
    uint64_t first, next; /* ordinals: of its first sample, behind its last one */
    uint32_t count, used;
    uint8_t bytes[JSP_SIDES_HEAD + JSP_SIDES_BLOCK];
};

struct jsp_sides {
    jsp_sides_chunk *chunk;
    void *context;
    struct jsp_sides_block weights, pcs;
};

void jsp_sides_init(struct jsp_sides *s, jsp_sides_chunk *chunk, void *context);

/* The weight and the lines of the sample that becomes frame `ordinal`. False: they are
 * too many for any chunk. */
bool jsp_sides_weight(struct jsp_sides *s, const struct jsp_profile *p,
                      const struct jsp_sample *sample, uint64_t ordinal);

/* Its rows, leaf first; n 0: it has none. */
void jsp_sides_rows(struct jsp_sides *s, const uint32_t *rows, uint32_t n, uint64_t ordinal);

void jsp_sides_flush(struct jsp_sides *s);

/* The rows of a sample, wherever the capture holds them: room for JSP_PROFILE_DEPTH. */
uint32_t jsp_sides_rows_of(const struct jsp_profile *p, struct jsp_bytecode_pcs *pcs,
                           const struct jsp_sample *sample, uint32_t *out);

#endif
