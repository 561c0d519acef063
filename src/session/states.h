/* session/states.h - the states of samples before they go into jsprof/states, and the names of
 * the system calls among them.
 *
 * A compact sample holds its own state; then the file has only the names. Used by the owner
 * of the output.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_STATES_H
#define JSP_SESSION_STATES_H

#include "capture/read.h"
#include "capture/writer.h"
#include "sigsafe/record.h"

enum {
    JSP_STATES_BLOCK = 1 << 15, /* bytes of jsprof/states in one chunk */
    JSP_STATES_NAMES = JSP_STATES_CALLS * JSP_N_STATE_ON,
};

struct jsp_states {
    uint64_t first; /* number of the first sample in `block` */
    uint32_t count, used;
    uint32_t names_used;
    bool has_any;   /* a part of the file was made */
    uint8_t known[JSP_STATES_NAMES / 8]; /* bitmap of the calls that have a name in the file */
    uint8_t names[2048];
    uint8_t block[JSP_STATES_BLOCK];
};

/* Return the state as the file has it, where `what` is the address of the host's name. The
 * name of its system call is written first; a call for which there is no room becomes
 * unknown. */
struct jsp_read_state jsp_states_of(struct jsp_states *states, struct jsp_writer *w,
                                    const struct jsp_rec_state *state, uint64_t what);

/* Return true if there is room for one sample. Write the block first if there is not. */
bool jsp_states_has_room(struct jsp_states *states, struct jsp_writer *w);

/* Add the state of sample number `ordinal`, the one after the last call's. There must be
 * room. */
void jsp_states_put(struct jsp_states *states, const struct jsp_read_state *state,
                    uint64_t ordinal);

/* Write the names that are new, and the block if it has samples. On an error the block stays. */
void jsp_states_write(struct jsp_states *states, struct jsp_writer *w);

#endif
