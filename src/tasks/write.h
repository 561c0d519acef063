/* tasks/write.h - tasks on their way into the capture: jsprof/tasks, and jsprof/running for the
 * task of each sample.
 *
 * Only the drain uses it, like the output. Kinds and names get a number when a task first has
 * them, and stacks when their record comes. A full table of names begins anew: the names in it
 * then get other numbers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TASKS_WRITE_H
#define JSP_TASKS_WRITE_H

#include "capture/taskfile.h"
#include "capture/writer.h"
#include "tasks.h"

enum {
    JSP_TASKS_BLOCK = 1 << 15,
    JSP_TASKS_WHATS = 1 << 12,
    JSP_TASKS_SAMPLES = 1 << 12, /* bytes of jsprof/running in one chunk */
};

struct jsp_tasks_name {
    uint32_t kind, name; /* labels */
    uint32_t number;     /* 0: free */
};

struct jsp_tasks_out {
    const struct jsp_arena *arena; /* borrowed */
    uint64_t n_lost;  /* records that the file could not take */
    uint64_t first;   /* number of the first task, to be written; 0: it was written */
    bool has_any;     /* a part of the file was made */
    bool has_samples; /* a part of jsprof/running was made */

    /* The block: */
    struct jsp_tasks_base base;
    int32_t tid;      /* of its last record; 0: none */
    uint32_t used;

    /* Names: */
    uint32_t n_whats;     /* in the table */
    uint32_t last_what;   /* the last number */

    /* The block of jsprof/running: */
    uint64_t sample_first, sample_task;
    uint32_t n_samples, samples_used;

    struct jsp_tasks_name whats[JSP_TASKS_WHATS];
    uint8_t block[JSP_TASKS_BLOCK];
    uint8_t samples[JSP_TASKS_SAMPLES];
};

/* Add a record of a thread, or count it as lost. */
void jsp_tasks_out_record(struct jsp_tasks_out *out, struct jsp_writer *w, int32_t tid,
                          const struct jsp_tasks_rec *rec);

/* Add a stack on which tasks were made, or count it as lost. */
void jsp_tasks_out_stack(struct jsp_tasks_out *out, struct jsp_writer *w, uint64_t number,
                         const struct jsp_tasks_frames *frames);

/* Add the runs of a thread that have not ended. */
void jsp_tasks_out_open(struct jsp_tasks_out *out, struct jsp_writer *w, int32_t tid,
                        const struct jsp_running_copy *open);

/* Return true if there is room for the task of one sample. Write its block first if not. */
bool jsp_tasks_out_has_room(struct jsp_tasks_out *out, struct jsp_writer *w);

/* Add the task of sample number `ordinal`, the one after the last call's. There must be
 * room. */
void jsp_tasks_out_sample(struct jsp_tasks_out *out, uint64_t task, uint64_t ordinal);

/* Append both blocks as chunks. Without room they stay. */
void jsp_tasks_out_write(struct jsp_tasks_out *out, struct jsp_writer *w);

#endif
