/* sigsafe/merge.c - see merge.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "merge.h"

/* The rest of one run of VM frames. */
struct merge_run {
    const struct jsp_rec_frame *next;
    uint32_t left;
    uint64_t sp; /* of the frame at `next`; if it has none, that of the frame before */
};

struct merge_all {
    struct merge_run runs[JSP_N_RUNS];
    const struct jsp_rec_native *natives; /* innermost first */
    uint32_t natives_left;
    uint32_t cut_native; /* the label for a gap in them */
    struct jsp_merged *out;
    bool has_gap; /* a gap of the VM frames lies outside of the frames to come */
    /* frames still to be written; the outermost comes first and goes to the end */
    uint32_t to;
};

static bool merge_has_loop(const struct jsp_loops *loops, uint64_t ip)
{
    for (uint32_t i = 0; i < loops->n; i++)
        if (ip >= loops->at[i][0] && ip < loops->at[i][1])
            return true;
    return false;
}

/* Return the address at which a run begins. Frames before the first address of their run
 * are outside of it; a run without any address lies inside of everything. */
static uint64_t merge_begin(const struct jsp_rec_frame *run, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (run[i].sp)
            return UINT64_MAX;
    return 0;
}

static void merge_carry(struct merge_run *run)
{
    if (run->left && run->next->sp)
        run->sp = run->next->sp;
}

/* Return the run whose next frame is the outermost; if equal, the first such run. */
static struct merge_run *merge_outermost(struct merge_run *runs)
{
    struct merge_run *best = NULL;
    for (int i = 0; i < JSP_N_RUNS; i++)
        if (runs[i].left && (!best || runs[i].sp > best->sp))
            best = &runs[i];
    return best;
}

static void merge_put_vm(struct merge_all *all, struct merge_run *run)
{
    all->out[--all->to] = (struct jsp_merged){ .id = run->next->id, .line = run->next->line,
                                               .pc = run->next->pc };
    all->has_gap = all->has_gap || run->next->gap;
    run->next++;
    run->left--;
    merge_carry(run);
}

static void merge_put_native(struct merge_all *all)
{
    const struct jsp_rec_native *frame = &all->natives[--all->natives_left];
    if (frame->ip == JSP_NATIVE_CUT) {
        all->out[--all->to] = (struct jsp_merged){ .id = all->cut_native };
        return;
    }
    all->out[--all->to] = (struct jsp_merged){ .ip = frame->ip, .native = true,
                                               .leaf = all->natives_left == 0 };
}

/* Put the VM frames at or above this address, which is the end of a native frame: they
 * are outside of it. */
static void merge_vm_above(struct merge_all *all, uint64_t cfa)
{
    for (struct merge_run *run; (run = merge_outermost(all->runs)) && run->sp >= cfa;)
        merge_put_vm(all, run);
}

static void merge_by_address(struct merge_all *all)
{
    while (all->natives_left) {
        merge_vm_above(all, all->natives[all->natives_left - 1].cfa);
        merge_put_native(all);
    }
    merge_vm_above(all, 0);
}

static bool merge_has_address(const struct jsp_record *record)
{
    uint32_t n = jsp_record_frames(record);
    for (uint32_t i = 0; i < n; i++)
        if (record->frames[i].sp)
            return true;
    return false;
}

/* Return true if this native frame was inside one of the loops when it made its call. */
static bool merge_in_loop(const struct merge_all *all, const struct jsp_loops *loops,
                          uint32_t native)
{
    return merge_has_loop(loops, all->natives[native].ip - (native != 0));
}

/* Put the VM frames up to the next entry. */
static void merge_one_activation(struct merge_all *all, struct merge_run *run)
{
    do
        merge_put_vm(all, run);
    while (run->left && !run->next->entry);
}

/* Count the activations from the frame with this index on, which begins one. */
static uint32_t merge_activations(const struct merge_run *run, uint32_t first)
{
    uint32_t n = run->left > first;
    for (uint32_t i = first + 1; i < run->left; i++)
        n += run->next[i].entry != 0;
    return n;
}

/* Return the number of frames before the first entry, which no loop runs. If no frame is an
 * entry, the host marks none; if a gap is among those frames, the record lacks their
 * entry. */
static uint32_t merge_outside(const struct merge_run *run)
{
    uint32_t n = 0;
    while (n < run->left && !run->next[n].entry && !run->next[n].gap)
        n++;
    return n == run->left || run->next[n].gap ? 0 : n;
}

/* Return whether the innermost function may not have entered the loop yet. */
static bool merge_is_only_called(const struct merge_run *run)
{
    return run->left && run->next[run->left - 1].entry & JSPROF_FRAME_CALLED;
}

static bool merge_is_cut(const struct merge_all *all, uint32_t native)
{
    return all->natives[native].ip == JSP_NATIVE_CUT;
}

/* Walk both from the outside. If the unwinder saw fewer activations than the VM has, the
 * innermost one may not be entered yet, the unwinder dropped those of its gap, or it missed
 * the outer ones. If it saw more, the innermost one has just been entered or is about to be
 * left. Inside of a gap of the VM frames both are counted from the inside, because the
 * outer loops ran the frames that are missing. The frames that no loop runs are just outside
 * of the first one that is known to run a frame. */
static void merge_by_loop(struct merge_all *all, const struct jsp_loops *loops,
                          struct merge_run *run)
{
    uint32_t outside = merge_outside(run);
    uint32_t loops_left = 0, runs_left = merge_activations(run, outside);
    bool is_cut = false;
    for (uint32_t i = 0; i < all->natives_left; i++) {
        loops_left += merge_in_loop(all, loops, i);
        is_cut = is_cut || merge_is_cut(all, i);
    }
    runs_left -= runs_left > loops_left && merge_is_only_called(run);
    bool is_missed = !is_cut && runs_left > loops_left;
    for (; is_missed && outside; outside--)
        merge_put_vm(all, run);
    for (; is_missed && runs_left > loops_left && run->left; runs_left--)
        merge_one_activation(all, run);
    while (all->natives_left) {
        bool takes = merge_in_loop(all, loops, all->natives_left - 1);
        bool took_others = merge_is_cut(all, all->natives_left - 1);
        for (; (takes || took_others) && outside; outside--)
            merge_put_vm(all, run);
        merge_put_native(all);
        for (; took_others && runs_left > loops_left && run->left; runs_left--)
            merge_one_activation(all, run);
        loops_left -= takes;
        if (takes && run->left && !(all->has_gap && loops_left >= runs_left)) {
            merge_one_activation(all, run);
            runs_left--;
        }
    }
    merge_vm_above(all, 0);
}

uint32_t jsp_merge(const struct jsp_record *record, const struct jsp_loops *loops,
                   struct jsp_merged *out)
{
    const struct jsp_rec_frame *at = record->frames;
    uint32_t n = jsp_record_frames(record) + record->n_native;
    struct merge_all all = { .natives = jsp_record_natives(record),
                             .natives_left = record->n_native,
                             .cut_native = record->cut_native, .out = out, .to = n };

    for (int i = 0; i < JSP_N_RUNS; i++) {
        all.runs[i] = (struct merge_run){ at, record->n[i], merge_begin(at, record->n[i]) };
        merge_carry(&all.runs[i]);
        at += record->n[i];
    }
    struct merge_run *run = merge_outermost(all.runs);
    if (run && loops->n && record->n_native && !merge_has_address(record))
        merge_by_loop(&all, loops, run);
    else
        merge_by_address(&all);
    return n;
}
