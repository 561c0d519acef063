/* export/firefox.h - what the parts of the Firefox Profiler's format share.
 *
 * SPDX-License-Identifier: MIT
 *
 * For firefox*.c only. One thread.
 */
#ifndef JSP_EXPORT_FIREFOX_H
#define JSP_EXPORT_FIREFOX_H

#include "export/json.h"
#include "export/names.h"
#include "export/strings.h"
#include "export/tables.h"
#include "export/timeline.h"

struct firefox {
    struct jsp_export *e;
    struct jsp_profile *p;
    struct jsp_json json;
    struct jsp_tables from;
    struct jsp_timeline timeline;
    struct jsp_strings strings;
    uint32_t *of_function;             /* the category of each function: subcategories here */
    uint32_t *lib;                     /* for each module its library + 1; 0: none */
    uint32_t *position; /* of each thread among those with samples, which are written */

    /* What one thread uses, and the number of each there + 1; 0: not used. */
    uint32_t *node_id, *frame_id, *func_id, *module_id;
    uint32_t *nodes, *frames, *funcs, *used_modules; /* by that number */
    uint32_t n_nodes, n_frames, n_funcs, n_modules;
    uint8_t *mark; /* for jsp_moments_nodes */
};

/* A time as the viewer wants it: ms since the start of the recording. */
void firefox_time(struct firefox *x, int64_t time);

/* The tables of one thread and the whole of it. */
void firefox_thread(struct firefox *x, uint32_t thread);

/* The marks that stand with a thread, as a field of it. */
void firefox_marks(struct firefox *x, uint32_t thread);
void firefox_mark_schema(struct firefox *x);
void firefox_counters(struct firefox *x);

/* The category of a kind of frame: a position in the list that firefox.c writes. */
uint32_t firefox_category(uint32_t kind);

#endif
