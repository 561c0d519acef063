/* read/about.c - the capture as a whole: what it is, what it lost, what could not be read.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

#include <errno.h>

#include "analyze/chains.h"

static const struct jsp_originals *about_originals(const struct jsp_profile *p)
{
    return p->naming ? jsp_naming_originals(p->naming) : NULL;
}

int jsprof_read_about(const jsprof_reader *r, jsprof_read_info *out)
{
    const struct jsp_profile *p = &r->profile;
    struct jsp_account_verdict v;
    jsp_account_verdict(&p->account, &v);
    int64_t start = p->start_time;
    const jsprof_read_info info = {
        .unit = jsp_unit_key(p->unit), .unit_name = jsp_unit_name(p->unit),
        .samples = p->samples, .weight = p->weight, .value = p->value,
        .idle_samples = r->choice.idle.samples, .idle_value = r->choice.idle.value,
        .hz = p->hz, .period_ns = p->period_ns, .clock = p->clock, .version = p->version,
        .host = p->host, .source = p->source, .looks = p->looks,
        .capture_time = r->read.capture_time, .start = start,
        .start_day = jsp_profile_day(&r->read, start),
        .first = p->first_time ? p->first_time - start : 0,
        .last = p->last_time ? p->last_time - start : 0,
        .state = v.state, .is_whole = v.is_whole, .has_states = jsp_profile_has_states(p),
        .is_swapped = r->read.swap, .write_error = (int)v.write_error,
        .expirations = v.sum.expirations, .kept = v.sum.kept, .lost = jsp_account_lost(&v.sum),
        .marks_lost = p->account.session.marks_lost, .allocated = p->heap.n_allocated,
        .freed = p->heap.n_freed, .alloc_every = p->heap.every,
        .n_during = p->during.n_marks, .lacks_proc = p->no_proc,
        .has_labels = jsp_profile_has_labels(p),
        .effective = p->squares > 0 ? (double)p->value * (double)p->value / p->squares : 0,
        .tasks = p->chains ? p->chains->tasks.n_tasks : 0,
        .mapped_files = about_originals(p) ? jsp_originals_n_mapped(about_originals(p)) : 0,
        .unsure_files = p->natives.unsure,
        .stacks = p->n_stacks, .packed = p->packed, .fold_ns = p->fold_ns,
        .n_bytes = r->read.size, .header_start = r->read.time, .header_end = r->read.end_time,
        .scheduler = p->sched, .is_little_endian = r->read.bytes[5] & 1,
        .is_relayed = p->is_relayed, .is_of_lua = p->is_of_lua,
        .is_of_threads = r->choice.select.threads, .is_of_frames = r->choice.select.filter,
        .is_of_stacks = r->choice.select.left_out, .is_part = r->is_part || r->choice.is_part,
        .lacks_end = jsp_profile_lacks_end(p),
    };
    jsp_reader_give(out, 0, &info, sizeof info);
    return 0;
}

int64_t jsp_reader_defects(const struct jsp_read_defects *d, uint64_t first,
                           jsprof_read_defect *out, uint64_t n)
{
    uint64_t there = 0, stored = 0;
    for (uint32_t i = 0; i < JSP_READ_N_CAUSES; i++) {
        if (!d->count[i] || there++ < first)
            continue;
        if (n && stored == n)
            break;
        const jsprof_read_defect defect = { .count = d->count[i], .offset = d->first[i],
                                            .cause = i, .is_cut = i == JSP_READ_CUT,
                                            .what = jsp_read_cause_text((enum jsp_read_cause)i) };
        if (n && out)
            jsp_reader_give(out, stored, &defect, sizeof defect);
        stored++;
    }
    return (int64_t)stored;
}

int64_t jsprof_read_defects(const jsprof_reader *r, uint64_t first, jsprof_read_defect *out,
                            uint64_t n)
{
    return jsp_reader_defects(&r->profile.defects, first, out, n);
}

int64_t jsprof_read_processes(jsprof_reader *r, uint64_t first, jsprof_read_process *out,
                              uint64_t n)
{
    const struct jsp_profile *p = &r->profile;
    int64_t rows;
    if (!jsp_reader_range(p->n_processes, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_process *from = &p->processes[first + i];
        const jsprof_read_process process = { .pid = from->pid, .parent = from->parent,
                                              .command = jsp_reader_text(r, from->command) };
        if (!process.command)
            return -ENOMEM;
        jsp_reader_give(out, i, &process, sizeof process);
    }
    return rows;
}

static jsprof_read_thread about_thread(const jsprof_reader *r, uint32_t i)
{
    const struct jsp_profile *p = &r->profile;
    const struct jsp_thread_info *t = &p->threads[i];
    struct jsp_account_thread sum = jsp_reader_sum(t);
    return (jsprof_read_thread){
        .pid = t->pid, .tid = t->tid,
        .is_chosen = !r->choice.threads || r->choice.threads[i],
        .name = t->losses ? t->losses->name : "",
        .samples = t->samples, .weight = t->weight, .value = t->value, .cpu_ns = t->cpu_ns,
        .first = t->first_time - p->start_time, .last = t->last_time - p->start_time,
        .running = t->by_state[JSP_STATE_RUNNING], .waiting = t->by_state[JSP_STATE_WAITING],
        .asleep = t->by_state[JSP_STATE_ASLEEP], .in_host = t->by_state[JSP_STATE_HOST],
        .unknown = t->by_state[JSP_STATE_UNKNOWN], .has_account = t->losses,
        .expirations = sum.expirations, .kept = sum.kept, .lost = jsp_account_lost(&sum),
        .unseen = t->losses ? t->losses->unseen_of_tid : 0,
        .stopped = t->by_state[JSP_STATE_STOPPED],
    };
}

int64_t jsprof_read_threads(jsprof_reader *r, uint64_t first, jsprof_read_thread *out,
                            uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(r->profile.n_threads, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const jsprof_read_thread thread = about_thread(r, (uint32_t)(first + i));
        jsp_reader_give(out, i, &thread, sizeof thread);
    }
    return rows;
}
