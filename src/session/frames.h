/* session/frames.h - the frames of a SAMPLE from a record: addresses, innermost first,
 * and a line for each.
 *
 * A native address is looked up in the code that was registered at the sample's time;
 * registered code becomes a VM frame like the others. Other addresses stay native, one
 * byte before the return address, so that they lie in the call.
 *
 * Only the drain uses it, like the output.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FRAMES_H
#define JSP_SESSION_FRAMES_H

#include "code.h"
#include "sigsafe/merge.h"
#include "natives.h"

enum {
    JSP_FRAMES_RUN = JSP_RECORD_FRAMES(JSP_RECORD_DEEPEST), /* of the VM; of C, no more */
    JSP_FRAMES_KEPT = 1000, /* of one sample in the file; Sysprof 48 drops deeper ones */
};

struct jsp_frames {
    const struct jsp_arena *arena; /* borrowed, like the next two */
    struct jsp_codes *codes;
    struct jsp_natives *natives;
    struct jsp_loops loops;  /* owned array */
    struct jsp_loops hidden; /* owned array: gets no VM frames, and views hide it */
    /* of "[frames cut]", "[no VM frame]", "[waiting for a processor]", "[stopped]" */
    uint32_t cut_id, empty_id, waiting_id, stopped_id;
    /* The result; index: innermost first. */
    uint32_t n;
    uint32_t cut;            /* frames dropped above JSP_FRAMES_KEPT */
    struct jsp_merged at[2 * JSP_FRAMES_RUN];
};

/* Fill `n`, `cut` and `at`; frames of registered code become VM frames with a label. A thread
 * that waits for a processor, or was stopped, gets an innermost frame that says so. */
void jsp_frames_of(struct jsp_frames *frames, const struct jsp_record *record);

/* Add a code range to one of the two lists. Return 0 or -ENOMEM. */
int jsp_frames_add_range(struct jsp_loops *to, uint64_t start, uint64_t end);

#endif
