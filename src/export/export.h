/* export/export.h - the exports of a profile to other formats.
 *
 * Each format is one function that writes a whole file. The sink keeps failures of the
 * output, so a function returns only its own. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_EXPORT_H
#define JSP_EXPORT_EXPORT_H

#include "analyze/categories.h"
#include "analyze/select.h"
#include "sink.h"

/* A process that ran, by the number that its capture has for it. */
struct jsp_export_host {
    int32_t recorded, pid;   /* pid: as this machine numbers it */
    const char *host, *vm;   /* borrowed: its program, and its interpreter or "" */
};

struct jsp_export {
    struct jsp_profile *profile;
    const struct jsp_select *select; /* which stacks count, which of their frames */
    struct jsp_sink *out;
    const struct jsp_categories *categories;
    const char *title; /* of the capture: usually its file's name */
    /* Of processes that ran, for pprof and otlp; NULL: not known. */
    const struct jsp_export_host *hosts;
    uint32_t n_hosts;
    bool may_be_empty; /* pprof and otlp write a profile without samples, in place of -ENODATA */
};

/* Return 0, -ENODATA if nothing was selected, or -ENOMEM. */
typedef int jsp_export_write(struct jsp_export *e);

/* also for captures without samples, but with calls */
jsp_export_write jsp_export_callgrind;
jsp_export_write jsp_export_pprof, jsp_export_otlp, jsp_export_firefox, jsp_export_speedscope,
    jsp_export_chrome, jsp_export_perfetto, jsp_export_folded, jsp_export_perf, jsp_export_csv,
    jsp_export_json;

/* Who scheduled whom: all tasks, whatever is selected. -ENODATA: there are none. */
jsp_export_write jsp_export_dot;

/* Write a capture again, completely, whatever is selected. Return -EFBIG if a sample has
 * more lines than the format allows. */
jsp_export_write jsp_export_syscap, jsp_export_compact;

/* Return when the recording started, in ns of the time of day; 0: unknown. */
int64_t jsp_export_time_of_day(const struct jsp_profile *p);

/* Return the process of this number, or NULL if it is not known. */
const struct jsp_export_host *jsp_export_host(const struct jsp_export *e, int32_t recorded);

/* Return the names of a profile's two values, and the unit of the second, as Go has them for
 * bytes. Without a clock there is only the first. */
const char *const *jsp_export_types(const struct jsp_profile *p);

#endif
