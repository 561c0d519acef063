/* analyze/states.h - the state of each sample: the file jsprof/states.
 *
 * It has blocks like those of weights.h: first every chunk is added and checked, then any
 * number of cursors read the record of each sample in file order. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_STATES_H
#define JSP_ANALYZE_STATES_H

#include "base/hash.h"
#include "weights.h"

struct jsp_states_call {
    uint64_t number;
    struct jsp_read_text name;
    int32_t pid;
};

struct jsp_states_read {
    struct jsp_weights blocks;
    struct jsp_states_call *calls; /* the names of system calls */
    struct jsp_hash by_call;
    uint32_t n_calls, calls_room;

    /* Always: by_call has the number and the process of each of calls[0..n_calls) */
};

/* Lay out an empty table. Return 0 or -ENOMEM. */
int jsp_states_init(struct jsp_states_read *s);

/* Add one chunk of jsprof/states of this process, which is borrowed. Return 0, -ENOMEM or
 * -EBADMSG: it holds a bad record (the parts before it are added). */
int jsp_states_add(struct jsp_states_read *s, const struct jsp_read_chunk *chunk, int32_t pid,
                   uint64_t offset);

/* Store the record of sample `ordinal`, which increases by one from call to call. */
void jsp_states_get(const struct jsp_states_read *s, struct jsp_weights_cursor *c,
                    uint64_t ordinal, struct jsp_read_state *out);

/* Return the name of a system call, empty if the capture has none. */
struct jsp_read_text jsp_states_name(const struct jsp_states_read *s, uint64_t number,
                                     int32_t pid);

/* Free the table. */
void jsp_states_free(struct jsp_states_read *s);

#endif
