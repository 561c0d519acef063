/* analyze/labels.h - the labels of each sample, and of the tasks that ran: the file jsprof/labels.
 *
 * A sample has the labels that its thread had, and those of the task that ran, which are those of
 * the task that made it, and so on; the innermost value of a key counts. Equal labels are one set.
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_LABELS_H
#define JSP_ANALYZE_LABELS_H

#include "base/hash.h"
#include "capture/labelfile.h"
#include "weights.h"

/* Pairs and traces are borrowed from the capture. */
struct jsp_label_set {
    const struct jsp_labels_pair *pairs; /* by key, each with a value; owned by the whole */
    uint32_t n;
    const uint8_t *trace; /* JSP_LABELS_TRACE bytes; NULL: none, or traces are not wanted */
};

/* What the file defines by number: a set, a trace with a set, or the labels of a task. */
struct jsp_label_known {
    struct jsp_labels_record record;
    int32_t pid;
};

struct jsp_label_task { /* a set of a sample, in a task */
    uint64_t number, task;
    int32_t pid;
    uint32_t set;
};

struct jsp_labels_read {
    struct jsp_weights blocks; /* numbers by SAMPLE frame */
    struct jsp_label_known *known;
    struct jsp_hash by_number, by_task; /* into known */
    uint32_t n_known, known_room;
    bool has_task_labels;
    bool has_traces; /* wanted: sets of two traces are two */

    struct jsp_label_set *sets; /* sets[0] is empty */
    struct jsp_hash by_set;
    uint32_t n_sets, sets_room;
    struct jsp_label_task *seen;
    struct jsp_hash by_seen;
    uint32_t n_seen, seen_room;
    /* For each of the tasks of the capture, the number of its maker; only with labels of tasks. */
    struct jsp_label_maker {
        uint64_t task, parent;
        int32_t pid;
    } *makers;
    struct jsp_hash by_made;
    uint32_t n_makers, makers_room;
};

/* Lay out an empty table. Return 0 or -ENOMEM. */
int jsp_labels_init(struct jsp_labels_read *l);

/* Free the table. */
void jsp_labels_free(struct jsp_labels_read *l);

/* Add one chunk of jsprof/labels of this process, which is borrowed. Return 0, -ENOMEM or
 * -EBADMSG: it holds a bad record (the parts before it are added). */
int jsp_labels_add(struct jsp_labels_read *l, const struct jsp_read_chunk *chunk, int32_t pid,
                   uint64_t offset);

/* Add the tasks of one chunk of jsprof/tasks, when all chunks of labels are known. Return 0 or
 * -ENOMEM. */
int jsp_labels_tasks(struct jsp_labels_read *l, const uint8_t *at, const uint8_t *end,
                     int32_t pid);

/* Store the number that the blocks have for sample `ordinal`, which increases by one from call to
 * call. `last` is the one before in its block. */
void jsp_labels_get(const struct jsp_labels_read *l, struct jsp_weights_cursor *c,
                    uint64_t ordinal, uint64_t *last, uint64_t *out);

/* What a sample has. */
struct jsp_label_sample {
    int32_t pid;
    uint64_t number; /* of its own labels; 0: none */
    uint64_t task;   /* that ran; 0: none */
};

/* Store the position of a sample's set in sets[]. Return 0 or -ENOMEM. */
int jsp_labels_of_sample(struct jsp_labels_read *l, const struct jsp_label_sample *sample,
                         uint32_t *set);

/* Return the value of a key in a set, or NULL. */
const struct jsp_labels_pair *jsp_labels_value(const struct jsp_labels_read *l, uint32_t set,
                                               struct jsp_read_text key);

#endif
