/* analyze/bytecode.h - a function's listing and the rows on which samples were taken: the
 * files jsprof/listings and jsprof/pcs.
 *
 * Borrows the bytes of the open capture. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_BYTECODE_H
#define JSP_ANALYZE_BYTECODE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/read.h"

struct jsp_bytecode_row {
    uint64_t pc;
    struct jsp_read_text text;
    uint32_t line;                  /* 0: unknown */
    uint32_t first_target, n_targets;
    bool ends;                      /* it never continues with the row after it */
};

struct jsp_bytecode {
    struct jsp_bytecode_row *rows;
    uint64_t *targets;              /* pcs, of all rows */
    uint32_t n, n_targets, rows_room, targets_room;
    bool is_there;
    bool is_shared; /* another function of this name has a different listing */
    int32_t pid;                    /* of its process */
    uint32_t n_claimed;             /* rows that the listing should have */
};

/* Read the first listing of this name. Malformed records are counted in `defects` (may be
 * NULL). Return 0 or -ENOMEM. */
int jsp_bytecode_read(struct jsp_bytecode *out, const struct jsp_read *capture,
                      const char *name, struct jsp_read_defects *defects);

/* Free the listing. */
void jsp_bytecode_free(struct jsp_bytecode *b);

/* Return the row that begins at this pc, or n if there is none. */
uint32_t jsp_bytecode_at(const struct jsp_bytecode *b, uint64_t pc);

/* A reader of the rows of samples, one sample after the other in file order. */
struct jsp_bytecode_pcs {
    struct jsp_read_cursor cursor;
    const uint8_t *at, *end;        /* the rest of the chunk */
    uint64_t left;                  /* records left in this block */
    uint64_t next;                  /* ordinal after the previous record */
    uint64_t offset;                /* of the chunk */
    bool is_ready;                  /* the fields below belong to a later sample */
    uint64_t ordinal;
    uint32_t n;
    const uint8_t *rows;            /* n varints */
};

/* Begin before the first sample. Malformed records are counted in `defects`. */
void jsp_bytecode_pcs_start(struct jsp_bytecode_pcs *pcs, const struct jsp_read *capture,
                            struct jsp_read_defects *defects);

/* Store the rows + 1 of sample `ordinal`, at most `most` of them, and return their
 * number. The ordinal increases from call to call. */
uint32_t jsp_bytecode_pcs_get(struct jsp_bytecode_pcs *pcs, uint64_t ordinal, uint32_t *out,
                              uint32_t most);

#endif
