/* analyze/stalls.c - turns of a loop that took too long. See stalls.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "stalls.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "jsprof.h"
#include "walk.h"
#include "work.h"

const char *const jsp_stall_causes[JSP_STALL_CAUSES + 1] = {
    "function", "collection", "blocking", "processor", "unknown", NULL
};

/* The time of the samples of one stack in one stall. */
struct stalls_part {
    uint32_t stall, stack, function;
    enum jsp_stall_cause cause;
    uint64_t value;
};

struct stalls_stack { /* what a stack of the profile is */
    uint32_t function;
    enum jsp_stall_cause cause;
    bool is_known, is_shown;
};

struct stalls_work {
    struct jsp_stalls_found *out;
    const struct jsp_tasks *t;
    struct jsp_profile *p;
    const struct jsp_stalls_ask *ask;
    uint32_t *of; /* by turns[], or by runs[]: 1 + the stall; 0: none */
    struct stalls_stack *stacks;
    struct stalls_part *parts;
    struct jsp_profile_frame *frames;
    uint32_t stalls_room, n_parts, parts_room;
};

/* -- Which turns ------------------------------------------------------------ */

static bool stalls_counts(const struct stalls_work *w, uint32_t thread, int64_t begin,
                          int64_t duration)
{
    const struct jsp_task_thread *k = &w->t->threads[thread];
    const struct jsp_thread_info *in = jsp_profile_thread(w->p, k->pid, k->tid);
    const bool *chosen = w->ask->select ? w->ask->select->threads : NULL;
    int64_t end;
    if (__builtin_add_overflow(begin, duration, &end))
        end = INT64_MAX;
    return (!chosen || (in && chosen[in - w->p->threads])) && jsp_work_overlaps(w->p, begin, end);
}

static int stalls_turn(struct stalls_work *w, uint32_t at, const struct jsp_stall *stall)
{
    struct jsp_stalls_found *out = w->out;
    if (!stalls_counts(w, stall->thread, stall->begin, stall->duration))
        return 0;
    out->turns++;
    out->longest = stall->duration > out->longest ? stall->duration : out->longest;
    if (stall->duration < w->ask->over)
        return 0;
    if (jsp_grow(&out->stalls, &w->stalls_room, out->n_stalls, sizeof *out->stalls) < 0)
        return -ENOMEM;
    out->stalls[out->n_stalls++] = *stall;
    w->of[at] = out->n_stalls;
    return 0;
}

static int stalls_turns(struct stalls_work *w)
{
    const struct jsp_tasks *t = w->t;
    uint32_t n = t->n_turns ? t->n_turns : t->n_runs;
    int err = 0;
    w->out->is_of_runs = !t->n_turns;
    w->of = calloc((size_t)n + 1, sizeof *w->of);
    if (!w->of)
        return -ENOMEM;
    for (uint32_t i = 0; err == 0 && i < n; i++) {
        struct jsp_stall s = { .what = JSP_TASK_NONE, .function = UINT32_MAX,
                               .stack = UINT32_MAX };
        if (t->n_turns) {
            s.begin = t->turns[i].begin;
            s.duration = t->turns[i].duration - t->turns[i].inner;
            s.thread = t->turns[i].thread;
        } else if (t->runs[i].outer == JSP_TASK_NONE) {
            s.begin = t->runs[i].begin;
            s.duration = t->runs[i].duration;
            s.thread = t->runs[i].thread;
            s.is_open = t->runs[i].is_open;
        } else {
            continue;
        }
        err = stalls_turn(w, i, &s);
    }
    return err;
}

/* Return 1 + the stall of the thread at this moment, or 0. */
static uint32_t stalls_at(const struct stalls_work *w, uint32_t thread, int64_t time)
{
    const struct jsp_tasks *t = w->t;
    uint32_t at = t->n_turns ? jsp_tasks_turn_at(t, thread, time)
                             : jsp_tasks_run_at(t, thread, time);
    while (!t->n_turns && at != JSP_TASK_NONE && t->runs[at].outer != JSP_TASK_NONE)
        at = t->runs[at].outer;
    return at == JSP_TASK_NONE ? 0 : w->of[at];
}

/* Name each stall after its longest run. */
static void stalls_name(struct stalls_work *w)
{
    const struct jsp_tasks *t = w->t;
    int64_t *longest = calloc((size_t)w->out->n_stalls + 1, sizeof *longest);
    for (uint32_t i = 0; longest && i < t->n_runs; i++) {
        const struct jsp_task_run *r = &t->runs[i];
        uint32_t at = t->n_turns ? r->turn : i, of = at == JSP_TASK_NONE ? 0 : w->of[at];
        if (!of || r->task == JSP_TASK_NONE || r->duration <= longest[of])
            continue;
        longest[of] = r->duration;
        w->out->stalls[of - 1].what = t->tasks[r->task].what;
        w->out->stalls[of - 1].is_open |= r->is_open;
    }
    free(longest);
}

/* -- What they did ---------------------------------------------------------- */

/* A collector that waits for its helper threads collects. */
static enum jsp_stall_cause stalls_cause(const struct stalls_work *w, uint32_t stack, int n)
{
    enum jsp_state state = jsp_profile_state(w->p, stack)->state;
    if (state == JSP_STATE_WAITING || state == JSP_STATE_STOPPED)
        return JSP_STALL_PROCESSOR;
    for (int i = 0; i < n; i++)
        if (w->frames[i].kind == JSPROF_KIND_GC)
            return JSP_STALL_COLLECTION;
    return state == JSP_STATE_ASLEEP || state == JSP_STATE_HOST ? JSP_STALL_BLOCKING
                                                                : JSP_STALL_FUNCTION;
}

/* Find the cause and the VM's innermost function of a stack; of one without a VM, the
 * innermost. */
static int stalls_look(struct stalls_work *w, uint32_t stack, struct stalls_stack **out)
{
    struct stalls_stack *k = *out = &w->stacks[stack];
    if (k->is_known)
        return 0;
    int n = jsp_select_frames(w->ask->select, w->p, stack, w->frames), at = 0;
    if (n < 0)
        return n;
    while (at < n && w->frames[at].kind != JSPROF_KIND_VM && w->frames[at].kind != JSPROF_KIND_JIT)
        at++;
    *k = (struct stalls_stack){ .is_known = true, .is_shown = n > 0,
                                .cause = stalls_cause(w, stack, n), .function = UINT32_MAX };
    if (n > 0)
        k->function = w->frames[at < n ? at : 0].function;
    return 0;
}

static int stalls_samples(struct stalls_work *w)
{
    struct jsp_walk walk;
    struct jsp_walk_item item;
    jsp_walk_start(&walk, w->p, w->ask->select);
    while (jsp_walk_next(&walk, &item)) {
        const struct jsp_thread_info *in = &w->p->threads[item.thread];
        uint32_t thread = jsp_tasks_thread(w->t, in->pid, in->tid);
        uint32_t stall = thread == JSP_TASK_NONE ? 0 : stalls_at(w, thread, item.time);
        struct stalls_stack *k;
        uint64_t value = jsp_unit_is_time(w->p->unit) ? item.value : 0;
        if (!stall)
            continue;
        int err = stalls_look(w, item.stack, &k);
        if (err < 0)
            return err;
        if (!k->is_shown)
            continue;
        if (jsp_grow(&w->parts, &w->parts_room, w->n_parts, sizeof *w->parts) < 0)
            return -ENOMEM;
        w->parts[w->n_parts++] = (struct stalls_part){ stall - 1, item.stack, k->function,
                                                       k->cause, value };
        w->out->stalls[stall - 1].parts[k->cause] += (int64_t)value;
        w->out->stalls[stall - 1].samples++;
    }
    return 0;
}

static int stalls_compare_parts(const void *a, const void *b)
{
    const struct stalls_part *x = a, *y = b;
    if (x->stall != y->stall)
        return x->stall < y->stall ? -1 : 1;
    if (x->cause != y->cause)
        return x->cause < y->cause ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->stack > y->stack) - (x->stack < y->stack);
}

/* Add up the parts that nothing explains, and choose the largest one. */
static void stalls_choose_cause(struct jsp_stall *s)
{
    int64_t rest = s->duration;
    for (int k = 0; k < JSP_STALL_UNKNOWN; k++)
        rest -= s->parts[k];
    s->parts[JSP_STALL_UNKNOWN] = rest > 0 ? rest : 0;
    for (int k = 0; k < JSP_STALL_CAUSES; k++)
        if (s->parts[k] > s->parts[s->cause])
            s->cause = (enum jsp_stall_cause)k;
}

/* Of the samples of each stall's cause, choose the function with the most time, and of this one's
 * stacks that with the most. */
static void stalls_choose(struct stalls_work *w)
{
    const struct stalls_part *k = w->parts;
    uint64_t best = 0; /* of the stall of the last part */
    for (uint32_t i = 0; i < w->out->n_stalls; i++)
        stalls_choose_cause(&w->out->stalls[i]);
    if (w->n_parts)
        qsort(w->parts, w->n_parts, sizeof *w->parts, stalls_compare_parts);
    for (uint32_t i = 0, end; i < w->n_parts; i = end) {
        struct jsp_stall *s = &w->out->stalls[k[i].stall];
        uint64_t sum = 0, of_stack = 0, most = 0;
        uint32_t stack = k[i].stack;
        for (end = i; end < w->n_parts && k[end].stall == k[i].stall &&
                      k[end].cause == k[i].cause && k[end].function == k[i].function; end++) {
            bool is_same = end > i && k[end].stack == k[end - 1].stack;
            of_stack = (is_same ? of_stack : 0) + k[end].value;
            stack = of_stack > most ? k[end].stack : stack;
            most = of_stack > most ? of_stack : most;
            sum += k[end].value;
        }
        if (i == 0 || k[i].stall != k[i - 1].stall)
            best = 0;
        if (k[i].cause == s->cause && sum > best) {
            best = sum;
            s->function = k[i].function;
            s->stack = stack;
        }
    }
}

/* -- Groups ----------------------------------------------------------------- */

static int stalls_compare(const void *a, const void *b)
{
    const struct jsp_stall *x = a, *y = b;
    if (x->duration != y->duration)
        return x->duration > y->duration ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static bool stalls_is_like(const struct jsp_profile *p, const struct jsp_stall *a,
                           const struct jsp_stall *b)
{
    if (a->cause != b->cause || a->function != b->function || a->what != b->what)
        return false;
    return a->cause != JSP_STALL_BLOCKING || a->stack == b->stack ||
           jsp_read_equal(jsp_profile_state(p, a->stack)->detail,
                          jsp_profile_state(p, b->stack)->detail);
}

static int stalls_group(struct stalls_work *w)
{
    struct jsp_stalls_found *out = w->out;
    uint32_t room = 0;
    if (out->n_stalls)
        qsort(out->stalls, out->n_stalls, sizeof *out->stalls, stalls_compare);
    for (uint32_t i = 0; i < out->n_stalls; i++) {
        struct jsp_stall *s = &out->stalls[i];
        uint32_t at = 0; /* groups are few: one for each place that blocks the loop */
        while (at < out->n_groups &&
               !stalls_is_like(w->p, s, &out->stalls[out->groups[at].worst]))
            at++;
        if (at == out->n_groups) {
            if (jsp_grow(&out->groups, &room, at, sizeof *out->groups) < 0)
                return -ENOMEM;
            out->groups[out->n_groups++] = (struct jsp_stall_group){ .worst = i };
        }
        s->group = at;
        out->groups[at].n++;
        out->groups[at].total += s->duration;
        for (int k = 0; k < JSP_STALL_CAUSES; k++)
            out->groups[at].parts[k] += s->parts[k];
    }
    return 0;
}

int jsp_stalls_find(struct jsp_stalls_found *out, const struct jsp_tasks *t,
                    struct jsp_profile *p, const struct jsp_stalls_ask *ask)
{
    *out = (struct jsp_stalls_found){ 0 };
    struct stalls_work w = { .out = out, .t = t, .p = p, .ask = ask };
    w.stacks = calloc((size_t)p->n_stacks + 1, sizeof *w.stacks);
    w.frames = malloc(JSP_PROFILE_DEPTH * sizeof *w.frames);
    int err = w.stacks && w.frames ? stalls_turns(&w) : -ENOMEM;
    if (err == 0 && out->n_stalls) {
        stalls_name(&w);
        err = stalls_samples(&w);
    }
    if (err == 0) {
        stalls_choose(&w);
        err = stalls_group(&w);
    }
    free(w.of);
    free(w.stacks);
    free(w.parts);
    free(w.frames);
    return err;
}

void jsp_stalls_free(struct jsp_stalls_found *s)
{
    free(s->stalls);
    free(s->groups);
    *s = (struct jsp_stalls_found){ 0 };
}
