/* session/output_compact.c - compact samples, folded or not; see output.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "output.h"

#include <errno.h>

/* Append the block of jsprof/stacks as a chunk; its samples now have a place in the
 * file. */
static int output_pack_block(struct jsp_output *out)
{
    uint32_t waiting = out->compact->waiting;
    int err = jsp_compact_write(out->compact, &out->writer);
    for (uint32_t i = 1; !err && i <= waiting; i++) {
        struct jsp_pending *sample = &out->pending[out->n_pending - i];
        sample->end = sample->written = out->writer.appended;
    }
    return err;
}

/* Return true if the block was full and is written: then there is room. */
static bool output_again(struct jsp_output *out, int err)
{
    return err == -ENOBUFS && out->compact->pack.used && output_pack_block(out) == 0;
}

int jsp_output_packed(struct jsp_output *out, const struct jsp_compact_sample *sample)
{
    int err;
    do
        err = jsp_compact_put(out->compact, &out->writer, &out->listings, sample);
    while (output_again(out, err));
    return err;
}

int jsp_output_fold(struct jsp_output *out, const struct jsp_compact_sample *sample)
{
    uint32_t weight = sample->record->weight;
    bool is_new = false;
    int err;
    do
        err = jsp_compact_fold(out->compact, &out->writer, &out->listings, sample, &is_new);
    while (output_again(out, err));
    if (err == -ENOSPC)
        jsp_tallies_unfold(&out->tallies, sample->tally, weight);
    else if (!err && is_new)
        jsp_tallies_append(&out->tallies, sample->tally, weight);
    else if (!err)
        jsp_tallies_grow(&out->tallies, sample->tally, weight);
    return err == -ENOSPC ? 0 : err;
}

/* Add one row to the block. */
static int output_row(struct jsp_output *out, const struct jsp_fold_row *row)
{
    int err;
    if (out->n_pending == JSP_OUTPUT_PENDING)
        return -ENOBUFS;
    do
        err = jsp_compact_row(out->compact, &out->writer, row);
    while (output_again(out, err));
    if (err)
        return err;
    out->n_samples++;
    out->pending[out->n_pending++] = (struct jsp_pending){ UINT64_MAX, UINT64_MAX, row->tally,
                                                           (uint32_t)row->weight };
    return 0;
}

int jsp_output_stacks(struct jsp_output *out)
{
    struct jsp_fold *fold = out->compact->fold;
    uint32_t done = 0;
    int err = 0;
    if (fold)
        jsp_fold_sort(fold);
    while (fold && done < fold->n && (err = output_row(out, &fold->rows[done])) == 0)
        done++;
    if (done)
        jsp_fold_drop(fold, done);
    int written = output_pack_block(out);
    return err ? err : written;
}

void jsp_output_folded(const struct jsp_fold *fold, struct jsp_tally *sum)
{
    sum->samples += fold->n;
    for (uint32_t i = 0; i < fold->n; i++)
        sum->kept += fold->rows[i].weight;
}

void jsp_output_drop(struct jsp_output *out)
{
    const struct jsp_fold *fold = out->compact->fold;
    for (uint32_t i = 0; fold && i < fold->n; i++)
        jsp_tallies_give_up(&out->tallies, fold->rows[i].tally,
                            (uint32_t)fold->rows[i].weight);
    jsp_compact_drop(out->compact);
}
