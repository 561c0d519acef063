/* session/child.c - see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The parts of the parent's session with which the child's begins. */
struct child_kept {
    struct jsp_code *codes;
    struct jsp_marks marks;
    struct jsp_tasks_shared tasks;
    struct jsp_loops loops, hidden;
    struct jsp_bundle *bundle;
    struct jsprof *next;
    struct jsp_file *file;
    pid_t pid;
    bool was_wanted; /* the host had started it */
};

static void child_keep(struct child_kept *k, struct jsprof *p)
{
    k->codes = p->codes.newest;
    k->marks = p->marks;
    k->tasks = p->tasks;
    k->loops = p->output.frames.loops;
    k->hidden = p->output.frames.hidden;
    k->bundle = p->output.natives.bundle;
    /* ORDER: relaxed. The child has one thread. */
    k->next = atomic_load_explicit(&p->live_next, memory_order_relaxed);
    k->file = p->file;
    k->pid = p->pid;
    k->was_wanted = p->given.dormant ? p->wanted : p->running;
}

/* Zero everything but the arena, whose every moment is consistent, and the place on the
 * list. */
static void child_clear(struct jsprof *p, const struct child_kept *k)
{
    struct jsp_arena arena = p->arena;
    size_t slots_bytes = p->slots_bytes, label_bytes = p->label_bytes;
    jsp_perfmap_abandon(&p->perf);
    memset((void *)p, 0, sizeof *p);
    p->arena = arena;
    p->slots_bytes = slots_bytes;
    p->label_bytes = label_bytes;
    p->tasks = k->tasks; /* handles that were made before stay valid */
    /* ORDER: relaxed. The child has one thread. */
    atomic_store_explicit(&p->live_next, k->next, memory_order_relaxed);
}

static void child_ranges(struct jsp_loops *to, const struct jsp_loops *from)
{
    for (uint32_t i = 0; i < from->n; i++)
        if (jsp_frames_add_range(to, from->at[i][0], from->at[i][1]) < 0)
            return; /* then their frames are shown */
}

/* Write all code to perf's files, because perf knows the child by a map of its own. */
static void child_report_perf(struct jsprof *p)
{
    for (uint32_t i = 0; i < p->codes.n; i++) {
        const struct jsp_code *c = p->codes.at[i];
        struct jsp_perfmap_code code = { c->start, c->end - c->start,
                                         jsp_arena_label(&p->arena, c->label)->text, c->birth };
        jsp_perfmap_add(&p->perf, &code);
    }
}

static void child_take_over(struct jsprof *p, struct child_kept *k)
{
    if (jsp_codes_take_over(&p->codes, k->codes) == 0)
        child_report_perf(p);
    jsp_marks_take_over(&p->marks, &k->marks);
    child_ranges(&p->output.frames.loops, &k->loops);
    child_ranges(&p->output.frames.hidden, &k->hidden);
    jsp_bundle_take_over(p->output.natives.bundle, k->bundle);
}

static void child_thread(struct jsprof *p)
{
    struct jsp_thread *t = (struct jsp_thread *)(void *)jsp_sampled_find(p);
    if (!t || jsp_tallies_take(&p->output.tallies, &t->tally) < 0)
        return;
    jsp_thread_renew(t, &p->setup);
    p->n_ids = 1;
    p->threads = NULL;
    p->links = NULL;
    jsp_session_list(p, t);
}

static int child_fill(struct jsprof *p, const struct jsp_session_setup *setup)
{
    struct child_kept *k = calloc(1, sizeof *k);
    if (!k)
        return -1;
    child_keep(k, p);
    child_clear(p, k);
    int err = jsp_session_fill(p, setup);
    if (err) {
        p->pid = k->pid; /* it is the parent's again, and empty */
        p->file = k->file;
    } else {
        child_take_over(p, k);
        child_thread(p);
        if (k->file) { /* keep its memory: jsprof_path has given a pointer to the name */
            *k->file = *p->file;
            free(p->file);
            p->file = p->given.file = k->file;
        }
        if (k->was_wanted)
            jsp_session_start(p);
    }
    free(k);
    return err;
}

void jsp_child_go_on(struct jsprof *p)
{
    struct jsp_session_setup setup = p->given;
    if (!setup.children || p->closing || p->pid == getpid())
        return;
    if (setup.dormant) { /* it waits for a recording of its own */
        setup.fd = -1;
        child_fill(p, &setup);
    }
    if (!p->file)
        return;
    setup.file = malloc(sizeof *setup.file);
    if (!setup.file)
        return;
    int err = jsp_file_open_child(setup.file, p->file);
    setup.fd = setup.file->fd;
    if (!err && child_fill(p, &setup) != 0)
        jsp_file_abandon(setup.file);
    else if (!err)
        return;
    free(setup.file);
}
