/* analyze/relayed.h - our numbers of functions in samples that are in another program's recording.
 *
 * When Sysprof joins a recording to its own it numbers functions anew, by their names, so a
 * function has one number in all tiers. The embedded file jsprof/relayed has the numbers that
 * the samples had, by their thread and time. Add all chunks, seal, then restore. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_RELAYED_H
#define JSP_ANALYZE_RELAYED_H

#include "lookup.h"

struct jsp_relayed_stack { /* sorted by (pid, tid, time) */
    int64_t time;
    int32_t pid, tid;
    const uint8_t *numbers, *end; /* n of them, as varints; borrowed */
    uint8_t *addrs;               /* owned: the restored stack; NULL: not yet */
    uint32_t n;
};

struct jsp_relayed {
    struct jsp_relayed_stack *at;
    uint32_t n, room;
};

/* Free the stacks. */
void jsp_relayed_free(struct jsp_relayed *r);

/* Add a chunk, and its names of functions to `names`, for the process and the epoch of `key`.
 * Return 0, -ENOMEM, or -EBADMSG if a record is not readable. */
int jsp_relayed_add(struct jsp_relayed *r, struct jsp_lookup *names,
                    const struct jsp_read_chunk *chunk, struct jsp_lookup_key key);

/* Call this after the last chunk. */
void jsp_relayed_seal(struct jsp_relayed *r);

/* Put our numbers in the place of others in a sample of frame `f`, if there are any for it. The
 * stack is then borrowed from here. */
void jsp_relayed_restore(struct jsp_relayed *r, const struct jsp_lookup *names,
                         const struct jsp_read_frame *f, struct jsp_read_sample *sample);

#endif
