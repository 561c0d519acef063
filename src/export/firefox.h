/* export/firefox.h - the state that the parts of the Firefox Profiler's format share.
 *
 * For firefox*.c only. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_FIREFOX_H
#define JSP_EXPORT_FIREFOX_H

#include "json.h"
#include "shown_names.h"
#include "strings.h"
#include "tables.h"

struct firefox {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_json json;
    struct jsp_tables from;
    struct jsp_timeline timeline;
    struct jsp_strings strings;
    /* category of each function, which are subcategories in this format */
    uint32_t *of_function;
    uint32_t *lib;                     /* for each module its library + 1; 0: none */
    /* position of each thread among those with samples, which are written */
    uint32_t *position;

    /* The items that one thread uses, and the number + 1 of each in it; 0: not used. */
    uint32_t *node_id, *frame_id, *func_id, *module_id;
    uint32_t *nodes, *frames, *funcs, *used_modules; /* by that number */
    uint32_t n_nodes, n_frames, n_funcs, n_modules;
    uint8_t *mark; /* for jsp_moments_nodes */
};

/* Write a time as the viewer expects it: ms since the start of the recording. */
void firefox_time(struct firefox *x, int64_t time);

/* Write one thread with its tables. */
void firefox_thread(struct firefox *x, uint32_t thread);

/* Write the marks and the states of a thread, as a field of it. */
void firefox_marks(struct firefox *x, uint32_t thread);

/* Write how the viewer shows each kind of mark. */
void firefox_mark_schema(struct firefox *x);

/* Write the counters. */
void firefox_counters(struct firefox *x);

/* Write the list of categories. */
void firefox_category_list(struct firefox *x);

/* Return the position in the list of categories of a kind of frame. */
uint32_t firefox_category(uint32_t kind);

#endif
