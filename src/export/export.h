/* export/export.h - a profile on its way into another format.
 *
 * SPDX-License-Identifier: MIT
 *
 * Each format is one function that writes a whole file. Failures of the output are kept
 * by the sink, so a function tells only of its own. One thread.
 */
#ifndef JSP_EXPORT_EXPORT_H
#define JSP_EXPORT_EXPORT_H

#include "analyze/categories.h"
#include "analyze/select.h"
#include "export/sink.h"

struct jsp_export {
    struct jsp_profile *profile;
    const struct jsp_select *select; /* which stacks count, which of their frames */
    struct jsp_sink *out;
    const struct jsp_categories *categories;
    const char *title; /* of the capture: as a rule its file's name */
};

/* 0; -ENODATA: nothing was selected; -ENOMEM. */
typedef int jsp_export_write(struct jsp_export *e);

jsp_export_write jsp_export_callgrind; /* also of captures with no samples, but calls */
jsp_export_write jsp_export_pprof, jsp_export_firefox, jsp_export_speedscope,
    jsp_export_chrome, jsp_export_folded, jsp_export_perf, jsp_export_csv, jsp_export_json;

/* Captures again; all of it, whatever is selected. -EFBIG: a sample has more lines than
 * the format has room for. */
jsp_export_write jsp_export_syscap, jsp_export_compact;

/* When the recording started, in ns of the time of day; 0: not known. */
int64_t jsp_export_time_of_day(const struct jsp_profile *p);

#endif
