/* session/frames.c - see frames.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "function_lines.h"
#include "sigsafe/arena.h"

enum { FRAMES_INNER = JSP_FRAMES_KEPT / 4 };

/* Keep the innermost and the outermost frames; put a frame of ours in place of the
 * others. */
static void frames_limit(struct jsp_frames *frames)
{
    frames->cut = 0;
    if (frames->n <= JSP_FRAMES_KEPT)
        return;
    frames->cut = frames->n - JSP_FRAMES_KEPT + 1;
    struct jsp_merged *gap = frames->at + FRAMES_INNER;
    uint32_t outer = JSP_FRAMES_KEPT - FRAMES_INNER - 1;
    memmove(gap + 1, frames->at + frames->n - outer, outer * sizeof *gap);
    *gap = (struct jsp_merged){ .id = frames->cut_id };
    frames->n = JSP_FRAMES_KEPT;
}

/* Resolve a native frame. Return false for a compiled frame that the walker reports
 * better. */
static bool frames_native(struct jsp_frames *frames, const struct jsp_record *record,
                          struct jsp_merged *frame)
{
    struct jsp_code_hit hit;
    if (frame->ip == JSP_NATIVE_WALKED)
        return false;
    frame->ip -= !frame->leaf;
    if (jsp_codes_find(frames->codes, frame->ip, record->time_ns, &hit)) {
        *frame = (struct jsp_merged){ .id = hit.label, .line = hit.line, .pc = hit.pc };
        return true;
    }
    return jsp_natives_see(frames->natives, frame->ip) || !record->n[JSP_RUN_WALKER];
}

static uint32_t frames_line(const struct jsp_frames *frames, const struct jsp_merged *frame)
{
    const struct jsp_label *name = jsp_arena_label(frames->arena, frame->id);
    return jsp_function_line(name->text, name->len, frame->pc);
}

/* Put a frame of ours before the innermost one. A record has fewer frames than `at` has room
 * for. */
static void frames_push(struct jsp_frames *frames, uint32_t id)
{
    memmove(frames->at + 1, frames->at, frames->n++ * sizeof *frames->at);
    frames->at[0] = (struct jsp_merged){ .id = id };
}

void jsp_frames_of(struct jsp_frames *frames, const struct jsp_record *record)
{
    uint32_t n = jsp_merge(record, &frames->loops, frames->at);
    frames->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct jsp_merged frame = frames->at[i];
        if (frame.native && !frames_native(frames, record, &frame))
            continue;
        if (frame.pc && !frame.line && !frame.native)
            frame.line = frames_line(frames, &frame);
        frames->at[frames->n++] = frame;
    }
    if (!frames->n)
        frames->at[frames->n++] = (struct jsp_merged){ .id = frames->empty_id };
    if (record->state.state == JSP_STATE_WAITING)
        frames_push(frames, frames->waiting_id);
    if (record->state.state == JSP_STATE_STOPPED)
        frames_push(frames, frames->stopped_id);
    frames_limit(frames);
}

/* Replace the list in consistent steps: a fork on another thread may copy any moment, and
 * the child continues with the list. */
int jsp_frames_add_range(struct jsp_loops *to, uint64_t start, uint64_t end)
{
    uint64_t(*more)[2] = malloc((to->n + 1) * sizeof *more), (*old)[2] = to->at;
    if (!more)
        return -ENOMEM;
    if (old)
        memcpy(more, old, to->n * sizeof *more);
    more[to->n][0] = start;
    more[to->n][1] = end;
    /* ORDER: release, both, for that copy; no partner. */
    atomic_thread_fence(memory_order_release);
    to->at = more;
    atomic_thread_fence(memory_order_release); /* ORDER: as above */
    to->n++;
    free(old);
    return 0;
}
