/* export/perfetto.h - the state that the parts of Perfetto's own format share.
 *
 * A trace is a list of packets, and a packet one field of it. Names, frames and stacks are sent
 * once, with a number; numbers are of one kind each and begin at 1. For perfetto*.c only. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_PERFETTO_H
#define JSP_EXPORT_PERFETTO_H

#include "proto.h"
#include "tables.h"

enum { PERFETTO_PACKET = 1 }; /* the field of the trace */

enum perfetto_packet { /* fields of a packet */
    PERFETTO_TIME = 8,
    PERFETTO_SEQUENCE = 10,
    PERFETTO_EVENT = 11,
    PERFETTO_INTERNED = 12,
    PERFETTO_FLAGS = 13,
    PERFETTO_CLEARED = 41,
    PERFETTO_DEFAULTS = 59,
    PERFETTO_TRACK = 60,
    PERFETTO_SAMPLE = 135,
};

enum perfetto_interned { /* fields of the packet's interned data */
    PERFETTO_CATEGORIES = 1,
    PERFETTO_NAMES = 2,
    PERFETTO_KEYS = 3,
    PERFETTO_FUNCTIONS = 5,
    PERFETTO_FRAMES = 6,
    PERFETTO_STACKS = 7,
    PERFETTO_BUILD_IDS = 16,
    PERFETTO_PATHS = 17,
    PERFETTO_SOURCES = 18,
    PERFETTO_MAPPINGS = 19,
    PERFETTO_THREADS = 48,
};

enum perfetto_key { /* numbers of the keys of an event's arguments */
    PERFETTO_KEY_TASK = 1,
    PERFETTO_KEY_DELAY,
    PERFETTO_KEY_END,
    PERFETTO_KEY_MESSAGE,
    PERFETTO_KEY_DETAIL,
};

enum perfetto_track { /* the upper half of a track's number; the lower one is a position + 1 */
    PERFETTO_OF_PROCESS = 1,
    PERFETTO_OF_THREAD,
    PERFETTO_OF_TASKS, /* a thread that has tasks, but no samples */
    PERFETTO_OF_STATE,
    PERFETTO_OF_MARKS,
    PERFETTO_OF_COUNTER,
    PERFETTO_OF_LABELS,
};

struct perfetto {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_tables from;
    struct jsp_timeline timeline;
    struct jsp_strings sources;
    struct jsp_proto packet, inner, part, text; /* each goes into the one before, or any */
    struct jsp_sink names;                      /* into text */
    int32_t *pids; /* of all processes, sorted */
    uint32_t n_pids;
    uint32_t *frames; /* of one stack */
    int error;
};

/* Return a text that ends in NUL, with its length. */
static inline struct jsp_read_text perfetto_of(const char *text)
{
    return (struct jsp_read_text){ text, (uint32_t)strlen(text) };
}

/* Set the time of the packet. */
void perfetto_time(struct perfetto *x, int64_t time);

/* Write the packet. */
void perfetto_end(struct perfetto *x);

/* Add a text to a message; an empty one is omitted. */
void perfetto_text(struct perfetto *x, struct jsp_proto *m, uint32_t field,
                   struct jsp_read_text text);

/* Return the number of a track: that of its kind and its place. */
static inline uint64_t perfetto_id(enum perfetto_track kind, uint32_t at)
{
    return (uint64_t)kind << 32 | (at + 1);
}

/* Compare two process ids, for qsort. */
int perfetto_compare(const void *left, const void *right);

/* Return the number of a process's track. */
uint64_t perfetto_process(const struct perfetto *x, int32_t pid);

/* Define a track with a name, whose other fields are in x->inner. */
void perfetto_track(struct perfetto *x, uint64_t id, uint64_t parent, struct jsp_read_text name);

/* perfetto_stacks.c: write the tables of frames and stacks. */
void perfetto_tables(struct perfetto *x);

/* perfetto_stacks.c: write the samples. */
void perfetto_samples(struct perfetto *x);

/* Return the number that stack `stack` of tasks has in the table. */
static inline uint64_t perfetto_made(const struct perfetto *x, uint32_t stack)
{
    return (uint64_t)x->from.stacks.n_nodes + stack;
}

/* perfetto_events.c: write the tasks and turns on their tracks. */
void perfetto_tasks(struct perfetto *x);

/* perfetto_events.c: write the states of threads. */
void perfetto_states(struct perfetto *x);

/* perfetto_events.c: write the labels of samples. */
void perfetto_labels(struct perfetto *x);

/* perfetto_events.c: write the marks. */
void perfetto_marks(struct perfetto *x);

/* perfetto_events.c: write the counters. */
void perfetto_counters(struct perfetto *x);

#endif
