/* analyze/profile.c - one capture as a profile: loading, units, processes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "chains.h"
#include "work.h"

static int profile_work(struct jsp_profile *p, const struct jsp_profile_options *options)
{
    struct jsp_profile_work *w = p->work = calloc(1, sizeof *w);
    if (!w)
        return -ENOMEM;
    if (options)
        w->options = *options;
    p->is_part = w->options.from_ns || w->options.to_ns || w->options.during ||
                 w->options.under_task;
    int err = jsp_native_files_init(&p->natives);
    p->natives.demangle = w->options.demangle;
    p->natives.demangle_context = w->options.demangle_context;
    p->natives.symbols = w->options.symbols;
    p->natives.cache = w->options.debuginfod;
    if (err == 0 && w->options.naming)
        err = jsp_naming_open(&p->naming, w->options.naming);
    if (err == 0)
        err = jsp_lookup_init(&p->lookup);
    if (err == 0)
        err = jsp_account_init(&p->account);
    struct jsp_hash *const tables[] = { &w->processes, &w->threads, &w->stacks,
                                         &w->functions, &w->places,
                                         &w->files, &w->states };
    for (size_t i = 0; err == 0 && i < sizeof tables / sizeof *tables; i++)
        err = jsp_hash_init(tables[i], 0);
    if (err == 0)
        err = jsp_states_init(&p->state_file);
    if (err == 0)
        err = jsp_labels_init(&p->labels);
    p->labels.has_traces = w->options.has_traces;
    return err;
}

/* Choose the unit of shares by the clock of the recording. */
static void profile_unit(struct jsp_profile *p)
{
    if (p->hz == 0 && p->account.session.hz <= UINT32_MAX)
        p->hz = (uint32_t)p->account.session.hz;
    if (!p->clock[0])
        memcpy(p->clock, p->account.session.clock, sizeof p->clock - 1);
    p->period_ns = p->hz ? 1000000000u / p->hz : 0;
    p->unit = JSP_VALUE_COUNT;
    if (jsp_unit_is_bytes(p->work->options.measure)) {
        p->unit = p->work->options.measure;
        p->driver = jsp_clock_find(p->clock);
        return;
    }
    p->driver = jsp_clock_find(p->clock);
    /* Weights define the time that a sample represents. In our recordings a sample without a
     * weight is one tick. In another program's recording one may represent many ticks. */
    bool has_time = p->work->weights.n || (*p->version && !p->is_relayed) ||
                    *p->account.session.clock;
    if (!has_time || !p->period_ns || !p->driver)
        return;
    const struct jsp_clock_row *wish = p->work->options.clock;
    bool wants_cpu = wish && wish->clock == JSP_CLOCK_CPU;
    p->unit = wants_cpu ? JSP_VALUE_CPU : (enum jsp_value)p->driver->clock;
}

const char *jsp_unit_key(enum jsp_value unit)
{
    static const char *const others[] = { "samples", "alloc_bytes", "live_bytes" };
    return jsp_unit_is_time(unit) ? jsp_clocks[unit].unit : others[unit - JSP_VALUE_COUNT];
}

const char *jsp_unit_name(enum jsp_value unit)
{
    static const char *const others[] = { "samples", "allocated bytes", "live bytes" };
    return jsp_unit_is_time(unit) ? jsp_clocks[unit].name : others[unit - JSP_VALUE_COUNT];
}

int64_t jsp_profile_day(const struct jsp_read *capture, int64_t time)
{
    struct tm tm = { 0 };
    const char *end = strptime(capture->capture_time, "%Y-%m-%dT%H:%M:%SZ", &tm);
    if (!end || *end || time < capture->time)
        return 0;
    uint64_t ns = (uint64_t)time - (uint64_t)capture->time;
    return timegm(&tm) + (int64_t)(ns / 1000000000);
}

int jsp_profile_load(struct jsp_profile *p, const struct jsp_read *capture,
                     const struct jsp_profile_options *options)
{
    memset(p, 0, sizeof *p);
    p->capture = capture;
    p->heap.is_live_wanted = options && options->measure == JSP_VALUE_LIVE;
    int err = profile_work(p, options);
    if (err == 0)
        err = jsp_scan_frames(p);
    if (err == 0)
        err = jsp_account_seal(&p->account);
    if (err == 0)
        err = jsp_heap_seal(&p->heap);
    for (uint32_t i = 0; err == 0 && p->labels.has_task_labels && i < p->work->n_tasks; i++) {
        const struct jsp_work_tasks *t = &p->work->tasks[i];
        err = jsp_labels_tasks(&p->labels, t->at, t->end, t->pid);
    }
    if (err == 0 && p->labels.has_task_labels && jsp_unit_is_bytes(p->work->options.measure)) {
        p->work->ran = calloc(1, sizeof *p->work->ran);
        err = p->work->ran ? jsp_tasks_read(p->work->ran, p) : -ENOMEM;
    }
    if (err == 0 && options && options->during)
        err = jsp_spans_of_marks(&p->during, capture, options->during);
    if (err == 0 && options && (options->has_tasks || options->under_task))
        err = jsp_chains_open(&p->chains, p, options->under_task);
    if (err == 0) {
        profile_unit(p);
        /* Use the header's start time unless a frame is older. */
        int64_t start = p->capture->time;
        p->start_time = start > 0 && (p->first_time == 0 || start <= p->first_time)
                            ? start
                            : p->first_time;
        if (!p->work->options.has_no_samples)
            err = jsp_scan_samples(p);
    }
    if (err < 0) {
        jsp_profile_free(p);
        return err;
    }
    for (uint32_t i = 0; i < p->n_threads; i++) {
        struct jsp_account_thread *t = jsp_account_of_tid(
            &p->account, p->threads[i].pid, p->threads[i].tid);
        p->threads[i].losses = t;
        if (t && !jsp_unit_is_bytes(p->unit))
            t->in_file += p->threads[i].weight;
    }
    p->natives.recorded = jsp_profile_day(capture, p->last_time);
    if (p->naming)
        jsp_naming_recorded(p->naming, p->natives.recorded);
    return 0;
}

int jsp_profile_keep(void *samples, const struct jsp_profile_sample *s)
{
    struct jsp_profile_samples *to = samples;
    if (jsp_grow(&to->list, &to->room, to->n, sizeof *to->list) < 0)
        return -ENOMEM;
    to->list[to->n++] = *s;
    return 0;
}

void jsp_profile_free(struct jsp_profile *p)
{
    jsp_spans_free(&p->during);
    jsp_chains_close(p->chains);
    struct jsp_profile_work *w = p->work;
    if (w) {
        jsp_weights_free(&w->weights);
        jsp_weights_free(&w->allocations);
        jsp_weights_free(&w->running);
        jsp_relayed_free(&w->relayed);
        free(w->tasks);
        if (w->ran)
            jsp_tasks_free(w->ran);
        free(w->ran);
        jsp_store_free(&w->store);
        jsp_hash_free(&w->processes);
        jsp_hash_free(&w->threads);
        jsp_hash_free(&w->stacks);
        jsp_hash_free(&w->states);
        jsp_hash_free(&w->functions);
        jsp_hash_free(&w->places);
        jsp_hash_free(&w->files);
        free(w->place);
        free(w->epochs);
        free(w);
    }
    jsp_states_free(&p->state_file);
    jsp_labels_free(&p->labels);
    jsp_lookup_free(&p->lookup);
    jsp_native_files_free(&p->natives);
    jsp_naming_close(p->naming);
    jsp_account_free(&p->account);
    jsp_heap_free(&p->heap);
    free(p->processes);
    free(p->threads);
    free(p->stacks);
    free(p->states);
    free(p->functions);
    free(p->files);
    memset(p, 0, sizeof *p);
}

const struct jsp_profile_options *jsp_profile_loaded(const struct jsp_profile *p)
{
    return &p->work->options;
}

const char *jsp_kind_name(uint32_t kind)
{
    static const char *const names[JSP_N_KINDS] = {
        "vm", "jit", "label", "gc", "native", "synth", "kernel", "other"
    };
    return names[kind < JSP_N_KINDS ? kind : JSP_KIND_OTHER];
}

const char *jsp_tier_name(const struct jsp_profile_frame *frame)
{
    static const char *const names[JSP_N_TIERS] = {
        NULL, "interpreter", "baseline-interpreter", "baseline", "optimized", "wasm"
    };
    return frame->tier ? names[frame->tier] : jsp_kind_name(frame->kind);
}

bool jsp_profile_lacks_end(const struct jsp_profile *p)
{
    const struct jsp_account *a = &p->account;
    struct jsp_account_verdict v;
    bool is_ours = a->session.present || a->total.present || (*p->version && !p->is_relayed);
    if (!is_ours)
        return p->capture->end_time == 0;
    jsp_account_verdict(a, &v);
    return !v.is_whole;
}
