/* session/merge.c - see merge.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "merge.h"

#include <stddef.h>

/* What is left of one run. */
struct merge_run {
    const struct jsp_rec_frame *next;
    uint32_t left;
    uint64_t sp; /* of the frame at `next`, carried where it has none */
};

static void merge_carry(struct merge_run *run)
{
    if (run->left && run->next->sp)
        run->sp = run->next->sp;
}

/* The run whose next frame is the outermost; the first of them where they are equal. */
static struct merge_run *merge_outermost(struct merge_run *runs)
{
    struct merge_run *best = NULL;
    for (int i = 0; i < JSP_N_RUNS; i++)
        if (runs[i].left && (!best || runs[i].sp > best->sp))
            best = &runs[i];
    return best;
}

void jsp_merge(const struct jsp_record *record, struct jsp_rec_frame *out)
{
    struct merge_run runs[JSP_N_RUNS];
    const struct jsp_rec_frame *at = record->frames;

    for (int i = 0; i < JSP_N_RUNS; i++) {
        runs[i] = (struct merge_run){ at, record->n[i], UINT64_MAX };
        merge_carry(&runs[i]);
        at += record->n[i];
    }
    for (uint32_t to = jsp_record_frames(record); to-- > 0;) {
        struct merge_run *run = merge_outermost(runs);
        out[to] = *run->next++;
        run->left--;
        merge_carry(run);
    }
}
