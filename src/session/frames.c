/* session/frames.c - see frames.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Roots are kept, and the leaf says that it is not the real one. */
static void frames_limit(struct jsp_frames *frames)
{
    frames->cut = 0;
    if (frames->n <= JSP_FRAMES_KEPT)
        return;
    frames->cut = frames->n - JSP_FRAMES_KEPT + 1;
    frames->n = JSP_FRAMES_KEPT;
    memmove(frames->at, frames->at + frames->cut - 1, frames->n * sizeof *frames->at);
    frames->at[0] = (struct jsp_merged){ .id = frames->cut_id };
}

void jsp_frames_of(struct jsp_frames *frames, const struct jsp_record *record)
{
    frames->n = jsp_merge(record, &frames->loops, frames->at);
    frames_limit(frames);
    for (uint32_t i = 0; i < frames->n; i++) {
        struct jsp_merged *frame = &frames->at[i];
        struct jsp_code_hit hit;
        if (!frame->native)
            continue;
        frame->ip -= !frame->leaf;
        if (jsp_codes_find(frames->codes, frame->ip, record->time_ns, &hit))
            *frame = (struct jsp_merged){ .id = hit.label, .line = hit.line };
    }
}

int jsp_frames_add_loop(struct jsp_frames *frames, uint64_t start, uint64_t end)
{
    uint64_t(*more)[2] = realloc(frames->loops.at, (frames->loops.n + 1) * sizeof *more);
    if (!more)
        return -ENOMEM;
    frames->loops.at = more;
    more[frames->loops.n][0] = start;
    more[frames->loops.n][1] = end;
    frames->loops.n++;
    return 0;
}
