/* sigsafe/jitrows.h - how to unwind registered code, for the handler.
 *
 * A sorted array of ranges that host threads change under a lock of theirs while
 * handlers read: a sequence number is odd meanwhile, and a handler that meets it
 * odd, or changed, answers "unknown" (it may well have interrupted the writer, so
 * it can not wait). Arrays that were outgrown are kept until the session ends.
 *
 *                      SIGPROF handler   any thread, under the codes' lock
 *   jsp_jitrows_find         yes                    -
 *   jsp_jitrows_label        yes                    -
 *   jsp_jitrows_bounds       yes                    -
 *   jsp_jitrows_add           -                    yes
 *   jsp_jitrows_remove        -                    yes
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_JITROWS_H
#define JSP_SIGSAFE_JITROWS_H

#include "frame.h"

struct jsp_jitrows_range {
    uint64_t start, end;
    const jsprof_code_row *rows; /* immutable; NULL: by frame pointer */
    uint32_t n_rows;
    uint32_t label; /* id in the session's arena */
};

/* A range as it stands in the array, where a reader may meet it half changed. */
struct jsp_jitrows_slot {
    _Atomic uint64_t start, end, rows, counts; /* counts: n_rows above 32 bits of label */
};

struct jsp_jitrows {
    _Atomic uint32_t seq; /* odd: being changed */
    _Atomic uint32_t n;
    struct jsp_jitrows_slot *_Atomic at; /* sorted, disjoint; owned by the codes */
    uint32_t capacity;

    /* Always: what was ever at `at` holds as many slots as `n` was until then */
};

enum jsp_jitrows_answer {
    JSP_JITROWS_NONE,    /* no registered code there, or it can not be told now */
    JSP_JITROWS_POINTER, /* registered, to be walked by frame pointer */
    JSP_JITROWS_ROW,     /* *row says how */
};

enum jsp_jitrows_answer jsp_jitrows_find(struct jsp_jitrows *rows, uint64_t pc,
                                         jsprof_code_row *row);

/* The label of the code at pc. False: none is registered, or it can not be told now. */
bool jsp_jitrows_label(struct jsp_jitrows *rows, uint64_t pc, uint32_t *label);

/* Where the code at pc begins and ends. False: as above; *code is untouched. */
bool jsp_jitrows_bounds(struct jsp_jitrows *rows, uint64_t pc, struct jsp_frame_code *code);

/* There is room for one more: n < capacity. The range overlaps none that is there. */
void jsp_jitrows_add(struct jsp_jitrows *rows, const struct jsp_jitrows_range *range);

/* Forget the range that starts here; its rows, which the caller owns, must outlive
 * every handler that may still read them. */
void jsp_jitrows_remove(struct jsp_jitrows *rows, uint64_t start);

#endif
