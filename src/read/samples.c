/* read/samples.c - samples, stacks, frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/walk.h"

int jsp_reader_frames(jsprof_reader *r, uint32_t stack)
{
    if (r->stack == stack)
        return 0;
    if (!r->frames)
        r->frames = malloc(JSP_PROFILE_DEPTH * sizeof *r->frames);
    int n = r->frames ? jsp_select_frames(&r->choice.select, &r->profile, stack, r->frames)
                      : -ENOMEM;
    r->stack = n < 0 ? UINT32_MAX : stack;
    r->n_frames = n < 0 ? 0 : (uint32_t)n;
    return n < 0 ? n : 0;
}

int jsp_reader_counts(jsprof_reader *r, uint32_t stack)
{
    struct jsp_reader_choice *c = &r->choice;
    if (!c->counts)
        c->counts = calloc((size_t)r->profile.n_stacks + 1, 1);
    if (!c->counts)
        return -ENOMEM;
    if (!c->counts[stack]) {
        bool has_thread = jsp_select_has(&c->select, &r->profile.stacks[stack]);
        int err = has_thread ? jsp_reader_frames(r, stack) : 0;
        if (err)
            return err;
        c->counts[stack] = has_thread && r->n_frames ? 2 : 1;
    }
    return c->counts[stack] == 2;
}

/* -- Samples ------------------------------------------------------------------ */

struct jsprof_read_samples {
    jsprof_reader *reader;
    struct jsp_walk walk;
};

int jsprof_read_samples_open(jsprof_read_samples **out, jsprof_reader *r,
                             jsprof_read_error *error)
{
    jsprof_read_samples *s = malloc(sizeof *s);
    if (!s)
        return jsp_reader_errno(error, -ENOMEM, NULL);
    s->reader = r;
    jsp_walk_start(&s->walk, &r->profile, &r->choice.select);
    *out = s;
    return 0;
}

int64_t jsprof_read_samples_next(jsprof_read_samples *s, jsprof_read_sample *out, uint64_t n)
{
    int64_t stored = 0;
    struct jsp_walk_item item;
    while ((uint64_t)stored < n && jsp_walk_next(&s->walk, &item)) {
        int counts = jsp_reader_counts(s->reader, item.stack);
        if (counts < 0)
            return counts;
        if (!counts)
            continue;
        const jsprof_read_sample sample = {
            .time = item.time - s->reader->profile.start_time, .stack = item.stack,
            .thread = item.thread, .value = item.value, .weight = item.weight,
            .cpu_ns = item.cpu_ns, .cpu = item.cpu,
        };
        jsp_reader_give(out, (uint64_t)stored++, &sample, sizeof sample);
    }
    return stored;
}

void jsprof_read_samples_close(jsprof_read_samples *s)
{
    free(s);
}

/* -- Stacks -------------------------------------------------------------------- */

int64_t jsprof_read_stacks(jsprof_reader *r, uint64_t first, jsprof_read_stack *out, uint64_t n)
{
    const struct jsp_profile *p = &r->profile;
    int64_t rows;
    if (!jsp_reader_range(p->n_stacks, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_stack *from = &p->stacks[first + i];
        const struct jsp_profile_state *state = jsp_profile_state(p, (uint32_t)(first + i));
        const jsprof_read_stack stack = { .thread = from->thread, .samples = from->samples,
                                          .weight = from->weight, .value = from->value,
                                          .state = jsp_states[state->state].key,
                                          .detail = jsp_reader_text(r, state->detail) };
        if (!stack.detail)
            return -ENOMEM;
        jsp_reader_give(out, i, &stack, sizeof stack);
    }
    return rows;
}

int64_t jsprof_read_labels(jsprof_reader *r, uint32_t stack, uint64_t first,
                           jsprof_read_label *out, uint64_t n)
{
    const struct jsp_profile *p = &r->profile;
    int64_t rows;
    if (stack >= p->n_stacks)
        return 0;
    const struct jsp_label_set *s = &p->labels.sets[p->stacks[stack].labels];
    if (!jsp_reader_range(s->n, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const jsprof_read_label label = { .key = jsp_reader_text(r, s->pairs[first + i].key),
                                          .value = jsp_reader_text(r, s->pairs[first + i].value) };
        if (!label.key || !label.value)
            return -ENOMEM;
        jsp_reader_give(out, i, &label, sizeof label);
    }
    return rows;
}

int jsprof_read_trace(const jsprof_reader *r, uint32_t stack, uint8_t trace_id[16],
                      uint8_t span_id[8])
{
    const struct jsp_profile *p = &r->profile;
    const uint8_t *trace =
        stack < p->n_stacks ? p->labels.sets[p->stacks[stack].labels].trace : NULL;
    if (!trace)
        return 0;
    memcpy(trace_id, trace, 16);
    memcpy(span_id, trace + 16, 8);
    return 1;
}

void jsp_reader_frame_rows(const jsprof_reader *r, const struct jsp_profile_frame *from,
                           jsprof_read_frame *out, uint64_t n)
{
    const struct jsp_profile *p = &r->profile;
    for (uint64_t i = 0; i < n; i++, from++) {
        const struct jsp_function *f = &p->functions[from->function];
        const jsprof_read_frame frame = { .function = from->function, .line = from->line,
                                          .name = f->name, .kind = jsp_kind_name(from->kind),
                                          .tier = jsp_tier_name(from), .module = f->module,
                                          .file = from->file ? p->files[from->file] : "",
                                          .is_native = from->origin != JSP_ORIGIN_VM };
        jsp_reader_give(out, i, &frame, sizeof frame);
    }
}

int64_t jsprof_read_frames(jsprof_reader *r, uint32_t stack, uint64_t first,
                           jsprof_read_frame *out, uint64_t n)
{
    const struct jsp_profile *p = &r->profile;
    int64_t rows;
    if (stack >= p->n_stacks || !jsp_select_has(&r->choice.select, &p->stacks[stack]))
        return 0;
    int err = jsp_reader_frames(r, stack);
    if (err)
        return err;
    if (!jsp_reader_range(r->n_frames, first, n, out, &rows))
        return rows;
    jsp_reader_frame_rows(r, r->frames + first, out, (uint64_t)rows);
    return rows;
}
