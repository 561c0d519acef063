/* analyze/work.h - the tables of a profile under construction; for src/analyze only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_WORK_H
#define JSP_ANALYZE_WORK_H

#include "profile.h"
#include "relayed.h"
#include "samples.h"
#include "base/store.h"

struct jsp_profile_place { /* an address that was looked up, and its frame */
    struct jsp_profile_address at;
    struct jsp_profile_frame frame;
};

struct jsp_resolve_name {
    struct jsp_read_text text;
    const char *module; /* "" for none */
    uint32_t kind;
    struct jsp_read_text path;
};

/* A chunk of jsprof/tasks, and the epoch in which the file has it. */
struct jsp_work_tasks {
    const uint8_t *at, *end;
    int32_t pid;
    uint32_t epoch;
};

struct jsp_profile_work {
    struct jsp_weights weights, allocations; /* of SAMPLE and of ALLOCATION frames */
    struct jsp_weights running; /* the tasks of SAMPLE frames */
    struct jsp_relayed relayed;
    struct jsp_work_tasks *tasks; /* read by jsp_tasks_read */
    uint32_t n_tasks, tasks_room;
    struct jsp_tasks *ran; /* for labels of tasks at allocations; NULL: not needed */
    struct jsp_store store;
    struct jsp_hash processes, threads, stacks, states, functions, places, files;
    struct jsp_profile_place *place;
    uint32_t n_places, places_room, processes_room, threads_room;
    uint32_t stacks_room, states_room, functions_room, files_room;

    /* Ordinals of the samples before which an epoch begins: epoch i + 1 at epochs[i]. */
    uint64_t *epochs;
    uint32_t n_epochs, epochs_room;
    uint64_t n_samples;     /* frames that jsp_work_counts, found while scanning */
    uint64_t epoch_samples; /* those before the current epoch */

    struct jsp_profile_options options;
    uint64_t reported;
};

/* Find the process, or add it. Return 0 or -ENOMEM. */
int jsp_work_process(struct jsp_profile *p, int32_t pid, struct jsp_process **out);

/* Report that so many bytes were read, if the caller asked for it. */
void jsp_work_progress(struct jsp_profile *p, uint64_t done);

/* Store the frame of a name; its function may be new. Return 0 or -ENOMEM. */
int jsp_resolve_named(struct jsp_profile *p, struct jsp_resolve_name name,
                      struct jsp_profile_frame *out);

/* Do the same for a name of ours, kind SYNTH. */
int jsp_resolve_fixed(struct jsp_profile *p, const char *name,
                      struct jsp_profile_frame *out);

/* Store the position of a source file in the profile's files; it may be new. Return 0 or
 * -ENOMEM. */
int jsp_work_file(struct jsp_profile *p, struct jsp_read_text name, uint32_t *out);

/* Show a function by another name. Return 0 or -ENOMEM. */
int jsp_resolve_rename(struct jsp_profile *p, uint32_t function, const char *name);

/* Return the mapping of an address in the process, or in one from which it was forked. */
const struct jsp_lookup_map *jsp_resolve_map(struct jsp_profile *p,
                                             struct jsp_lookup_key k);

/* Return true for a frame that is a sample of what the profile measures, readable or not. */
bool jsp_work_counts(const struct jsp_profile *p, const struct jsp_read_frame *f);

/* Return true if a span of time touches the one with which the profile was loaded. */
bool jsp_work_overlaps(const struct jsp_profile *p, int64_t from, int64_t to);

/* Make the first pass: read everything but samples. Return 0 or -ENOMEM. */
int jsp_scan_frames(struct jsp_profile *p);

/* Make the second pass: read the samples. Return 0 or -ENOMEM. */
int jsp_scan_samples(struct jsp_profile *p);

/* Find the stack of the profile on which a sample was counted. Return false if there is
 * none. */
bool jsp_scan_find(struct jsp_profile *p, const struct jsp_read_frame *f,
                   const struct jsp_sample *sample, uint32_t *stack);

/* Return what the sample counts in the unit of the profile. */
uint64_t jsp_scan_value(const struct jsp_profile *p, const struct jsp_sample *sample);

#endif
