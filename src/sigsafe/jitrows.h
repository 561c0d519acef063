/* sigsafe/jitrows.h - how to unwind registered code, for the handler.
 *
 * Host threads change a sorted array of ranges under their own lock while handlers read
 * it. A sequence number is odd during a change. A handler that finds the number odd, or
 * changed after its reading, returns "unknown": it may have interrupted the writer, so it
 * cannot wait. Outgrown arrays are kept until the session ends.
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
    const jsprof_code_row *rows; /* immutable; NULL: unwind by frame pointer */
    uint32_t n_rows;
    uint32_t label; /* id in the session's arena */
};

/* A range as it is stored in the array, where a reader may find it half changed. */
struct jsp_jitrows_slot {
    _Atomic uint64_t start, end, rows, counts; /* counts: n_rows above 32 bits of label */
};

struct jsp_jitrows {
    _Atomic uint32_t seq; /* odd: a change is under way */
    _Atomic uint32_t n;
    struct jsp_jitrows_slot *_Atomic at; /* sorted, disjoint; owned by the codes */
    uint32_t capacity;

    /* Always: each array that was ever at `at` has as many slots as `n` was until then */
};

enum jsp_jitrows_answer {
    JSP_JITROWS_NONE,    /* no registered code there, or a writer is changing the array */
    JSP_JITROWS_POINTER, /* registered code that keeps a frame pointer */
    JSP_JITROWS_ROW,     /* registered code; *row describes it */
};

/* Look up the registered code at pc, in the handler. Write *row for JSP_JITROWS_ROW alone. */
enum jsp_jitrows_answer jsp_jitrows_find(struct jsp_jitrows *rows, uint64_t pc,
                                         jsprof_code_row *row);

/* Store the label of the code at pc. Return false if none is registered or a writer is
 * changing the array. */
bool jsp_jitrows_label(struct jsp_jitrows *rows, uint64_t pc, uint32_t *label);

/* Store where the code at pc begins and ends. Return false as above; *code is then
 * untouched. */
bool jsp_jitrows_bounds(struct jsp_jitrows *rows, uint64_t pc, struct jsp_frame_code *code);

/* Add a range. The caller has made room (n < capacity), and no stored range overlaps
 * it. */
void jsp_jitrows_add(struct jsp_jitrows *rows, const struct jsp_jitrows_range *range);

/* Remove the range that starts here. The caller owns its rows and must keep them alive as
 * long as any handler may still read them. */
void jsp_jitrows_remove(struct jsp_jitrows *rows, uint64_t start);

#endif
