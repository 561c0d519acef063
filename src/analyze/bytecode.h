/* analyze/bytecode.h - a function's listing and the rows of it that samples met: the
 * files jsprof/listings and jsprof/pcs.
 *
 * SPDX-License-Identifier: MIT
 *
 * Borrows the bytes of the open capture. One thread.
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
    bool ends;                      /* it never goes on to the row behind it */
};

struct jsp_bytecode {
    struct jsp_bytecode_row *rows;
    uint64_t *targets;              /* pcs, of all rows */
    uint32_t n, n_targets, rows_room, targets_room;
    bool is_there;
    bool is_shared;                 /* another function of this name has another listing */
    int32_t pid;                    /* whose it is */
    uint32_t n_claimed;             /* rows that there should be */
};

/* The listing of this name, the first of them. What is malformed is counted in `defects`
 * (NULL: nobody counts). -ENOMEM. */
int jsp_bytecode_read(struct jsp_bytecode *out, const struct jsp_read *capture,
                      const char *name, struct jsp_read_defects *defects);
void jsp_bytecode_free(struct jsp_bytecode *b);

/* The row that begins at this pc; n: none does. */
uint32_t jsp_bytecode_at(const struct jsp_bytecode *b, uint64_t pc);

/* The rows that samples met, one sample after the other in file order. */
struct jsp_bytecode_pcs {
    struct jsp_read_cursor cursor;
    const uint8_t *at, *end;        /* records of the chunk that is left to read */
    uint64_t left;                  /* records of this block */
    uint64_t next;                  /* ordinal behind the one before */
    uint64_t offset;                /* of the chunk */
    bool is_ready;                  /* the fields below are of a sample to come */
    uint64_t ordinal;
    uint32_t n;
    const uint8_t *rows;            /* n varints */
};

void jsp_bytecode_pcs_start(struct jsp_bytecode_pcs *pcs, const struct jsp_read *capture,
                            struct jsp_read_defects *defects);

/* The rows + 1 of sample `ordinal`, which goes up from call to call, at most `most` of
 * them; returns how many. */
uint32_t jsp_bytecode_pcs_get(struct jsp_bytecode_pcs *pcs, uint64_t ordinal, uint32_t *out,
                              uint32_t most);

#endif
