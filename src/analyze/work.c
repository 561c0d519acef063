/* analyze/work.c - see work.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "work.h"

#include <errno.h>

enum { WORK_PROGRESS_STEP = 8 << 20 };

void jsp_work_progress(struct jsp_profile *p, uint64_t done)
{
    struct jsp_profile_work *w = p->work;
    if (done - w->reported < WORK_PROGRESS_STEP || !w->options.progress)
        return;
    w->reported = done;
    w->options.progress(w->options.context, done, p->capture->size);
}

bool jsp_work_overlaps(const struct jsp_profile *p, int64_t from, int64_t to)
{
    const struct jsp_profile_options *o = &p->work->options;
    uint64_t start = from > p->start_time ? (uint64_t)from - (uint64_t)p->start_time : 0;
    uint64_t end = to > p->start_time ? (uint64_t)to - (uint64_t)p->start_time : 0;
    return end >= o->from_ns && (o->to_ns == 0 || start < o->to_ns) &&
           (!o->during || jsp_spans_overlap(&p->during, from, to));
}

static uint32_t work_hash(const struct jsp_profile *p, int32_t pid)
{
    return (uint32_t)jsp_hash_mix(p->work->processes.seed, (uint32_t)pid);
}

static struct jsp_process *work_process(const struct jsp_profile *p, int32_t pid)
{
    uint32_t hash = work_hash(p, pid), probe = hash, at;
    while ((at = jsp_hash_next(&p->work->processes, hash, &probe)) != 0)
        if (p->processes[at - 1].pid == pid)
            return &p->processes[at - 1];
    return NULL;
}

struct jsp_read_text jsp_profile_command(const struct jsp_profile *p, int32_t pid)
{
    const struct jsp_process *process = work_process(p, pid);
    return process && process->command.len ? process->command
                                           : (struct jsp_read_text){ "", 0 };
}

int jsp_work_process(struct jsp_profile *p, int32_t pid, struct jsp_process **out)
{
    *out = work_process(p, pid);
    if (*out)
        return 0;
    if (jsp_grow(&p->processes, &p->work->processes_room, p->n_processes,
                 sizeof *p->processes) < 0)
        return -ENOMEM;
    *out = &p->processes[p->n_processes];
    **out = (struct jsp_process){ .pid = pid };
    return jsp_hash_add(&p->work->processes, work_hash(p, pid), p->n_processes++);
}

static int work_file(struct jsp_profile *p, struct jsp_read_text name, uint32_t *out)
{
    struct jsp_profile_work *w = p->work;
    uint64_t h = jsp_hash_bytes(w->files.seed, name.at, name.len);
    uint32_t hash = (uint32_t)(h >> 16), probe = hash, at;
    while ((at = jsp_hash_next(&w->files, hash, &probe)) != 0)
        if (jsp_read_is(name, p->files[at - 1]))
            break;
    *out = at - 1;
    if (at)
        return 0;
    if (jsp_grow(&p->files, &w->files_room, p->n_files, sizeof *p->files) < 0)
        return -ENOMEM;
    p->files[p->n_files] = jsp_store_text(&w->store, name.at, name.len);
    *out = p->n_files;
    return p->files[p->n_files] ? jsp_hash_add(&w->files, hash, p->n_files++) : -ENOMEM;
}

int jsp_work_file(struct jsp_profile *p, struct jsp_read_text name, uint32_t *out)
{
    const struct jsp_read_text none = { "", 0 };
    /* Position 0 is reserved for "none". */
    int err = p->n_files ? 0 : work_file(p, none, out);
    return err < 0 ? err : work_file(p, name, out);
}
