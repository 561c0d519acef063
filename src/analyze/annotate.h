/* analyze/annotate.h - the lines of one function, and the rows of its bytecode.
 *
 * Self of a line or row is the cost while the function itself ran there; total counts a
 * sample once for each line or row on its stack, however often the function recurs. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ANNOTATE_H
#define JSP_ANALYZE_ANNOTATE_H

#include "bytecode.h"
#include "select.h"

struct jsp_annotate_cost {
    uint64_t self, total; /* in the profile's unit */
    uint64_t seen;        /* number + 1 of the last sample or stack with it */
};

struct jsp_annotate_line {
    uint32_t file, line; /* file: in the profile's files[]; 0: the one in the name */
    struct jsp_annotate_cost cost;
};

struct jsp_annotate {
    uint32_t function;
    uint64_t value, samples;        /* of the selected stacks */
    uint64_t self, total;           /* of the function */
    uint64_t self_samples, total_samples;
    uint64_t in_lines;              /* part of self in a known line */
    uint64_t in_rows;               /* part of self in a known row */
    struct jsp_annotate_line *lines; /* sorted by file and line */
    uint32_t n_lines, lines_room;
    struct jsp_bytecode code;       /* is_there: the function has a listing */
    struct jsp_annotate_cost *rows; /* one for each row of `code` */
};

struct jsp_annotate_ask {
    uint32_t function;
    const struct jsp_select *select;
    const struct jsp_profile_samples *samples;
    struct jsp_read_defects *defects; /* of the listing's files; NULL: do not count */
};

/* Charge the selected samples of a function to its lines and rows. Return 0 or -ENOMEM. */
int jsp_annotate_build(struct jsp_annotate *out, struct jsp_profile *p,
                       const struct jsp_annotate_ask *ask);

/* Free the lines and rows. */
void jsp_annotate_free(struct jsp_annotate *a);

/* Replace the lines of a listing by those of the function's original; `generated` is that of the
 * function's frames. Return 0 or -ENOMEM. */
int jsp_annotate_originals(struct jsp_profile *p, uint32_t generated, struct jsp_bytecode *code);

/* Basic blocks of the listing: control enters only at the first row and leaves after the
 * last. */
struct jsp_annotate_block {
    uint32_t first, n; /* rows */
    uint64_t self, total; /* total: that of its hottest row */
};
/* Find the blocks; *n is 0 without a listing. The caller frees *out. Return 0 or
 * -ENOMEM. */
int jsp_annotate_blocks(const struct jsp_annotate *a, struct jsp_annotate_block **out,
                        uint32_t *n);

/* Operations by name, which is the first word of a row's text. */
struct jsp_annotate_opcode {
    struct jsp_read_text name;
    uint32_t n_rows;
    uint64_t self;
};
int jsp_annotate_opcodes(const struct jsp_annotate *a, struct jsp_annotate_opcode **out,
                         uint32_t *n); /* as above; sorted by self, largest first */

#endif
