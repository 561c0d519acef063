/* export/tables.h - the tables from which most formats are written: stacks, modules,
 * moments, marks and counters.
 *
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_TABLES_H
#define JSP_EXPORT_TABLES_H

#include "analyze/calltree.h"
#include "analyze/events.h"
#include "analyze/flows.h"
#include "export.h"
#include "strings.h"

/* -- modules.c: the modules of functions: files, or names in brackets.
 *
 * Formats with a table of libraries need one for each function. VM code, the kernel and
 * functions that the host or jsprof made up belong to no library: they get a name in
 * brackets. */

struct jsp_module {
    struct jsp_read_text path, build_id;
    uint64_t start, end, offset; /* of its first mapping; 0: unknown */
    bool is_file;                /* not one in brackets */
};

struct jsp_modules {
    struct jsp_module *list;
    uint32_t n, room;
    uint32_t *of_function; /* index of the module of each function of the profile */
    struct jsp_strings paths;
};

/* Call this when the profile's functions are known. Return 0 or -ENOMEM. */
int jsp_modules_build(struct jsp_modules *m, const struct jsp_profile *p);

/* Free the list. */
void jsp_modules_free(struct jsp_modules *m);

/* -- moments.c: the selected samples, thread by thread and in order of time, for formats with
 * a time axis */

struct jsp_moment {
    int64_t time;
    uint64_t value; /* in the profile's unit */
    uint64_t weight, cpu_ns;
    uint32_t node;    /* in the stacks */
    uint32_t state;   /* in the profile's states[] */
    uint32_t labels;  /* in its labels.sets[] */
    uint32_t ordinal; /* number among all selected samples, in file order */
    int16_t cpu;
};

struct jsp_moments {
    struct jsp_moment *list; /* of thread t: [first[t], first[t + 1]) */
    uint32_t *first;
    uint32_t n;
};

/* Collect the samples. Return 0, -ENOMEM, or -EOVERFLOW if there are more than 2^32
 * samples. */
int jsp_moments_build(struct jsp_moments *m, struct jsp_profile *p,
                      const struct jsp_calltree *s, const struct jsp_select *select);

/* Store in list[] the nodes of a thread's samples and all their parents, parents first.
 * Return how many. `mark` has a byte for each node, all 0 before and after. */
uint32_t jsp_moments_nodes(const struct jsp_moments *m, const struct jsp_calltree *s,
                           uint32_t thread, uint8_t *mark, uint32_t *list);

/* A span of time in which all samples of a thread have one state, or one set of labels. */
enum jsp_moments_of { JSP_MOMENTS_STATE, JSP_MOMENTS_LABELS };
struct jsp_moments_span {
    int64_t from, to;
    uint32_t what; /* in the profile's states[], or in its labels.sets[]; never 0 */
};

/* Return the next span of a thread. *at is 0 before the first call. A sample stands for the
 * time since the one before, or for its expirations if much more time has passed. Return false
 * after the last one. */
bool jsp_moments_next_span(const struct jsp_moments *m, const struct jsp_profile *p,
                           enum jsp_moments_of kind, uint32_t thread, uint32_t *at,
                           struct jsp_moments_span *out);

/* Free the moments. */
void jsp_moments_free(struct jsp_moments *m);

/* -- tables.c */

/* Make the tree of the chosen stacks with all fields of frames: 0, -ENODATA or -ENOMEM. Where the
 * export may be empty, it has no node without stacks. */
int jsp_export_tree(struct jsp_calltree *t, const struct jsp_export *e);

/* As jsp_calltree_counts_of_states, of such a tree. */
struct jsp_calltree_count *jsp_export_counts(const struct jsp_calltree *t,
                                             const struct jsp_profile *p, uint32_t *n);

struct jsp_tables {
    struct jsp_calltree stacks;
    struct jsp_modules modules;
    struct jsp_moments moments;
};

/* Build the tables of the selected part of the profile. Return 0, -ENODATA if nothing is
 * selected, or -ENOMEM. Call jsp_tables_free in any case. */
int jsp_tables_build(struct jsp_tables *t, const struct jsp_export *e,
                     enum jsp_calltree_detail detail);

/* Free the tables. */
void jsp_tables_free(struct jsp_tables *t);

/* Return the module of a function of the profile. */
static inline const struct jsp_module *jsp_tables_module(const struct jsp_tables *t,
                                                         uint32_t function)
{
    return &t->modules.list[t->modules.of_function[function]];
}

/* -- timeline.c: marks by thread, values by counter, and tasks, for formats with such lists.
 *
 * A mark belongs to a process; it is listed with the first thread of its process that has
 * selected samples, or with the first such thread of all if its process has none. So are the
 * runs of tasks on a thread that has no selected samples. */

struct jsp_timeline {
    struct jsp_events events;
    struct jsp_tasks tasks;
    struct jsp_flows flows;
    uint32_t *task_thread; /* by threads[] of the tasks: the thread with which they are listed */
    /* Positions in events.marks, those of thread t at [first[t], first[t + 1]). */
    uint32_t *marks, *marks_first;
    /* Positions in events.values, the same by counter. */
    uint32_t *values, *values_first;
    uint32_t *counter_thread; /* the thread of each counter, by the same rule */
};

/* Build the tables of the selected part of the profile, and from them the timeline. Return
 * 0, -ENODATA if nothing is selected, or -ENOMEM. Free both in any case. */
int jsp_timeline_build(struct jsp_timeline *t, struct jsp_tables *from,
                       const struct jsp_export *e, enum jsp_calltree_detail detail);

/* Free the timeline. */
void jsp_timeline_free(struct jsp_timeline *t);

#endif
