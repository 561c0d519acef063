/* export/export.h - the exports of a profile to other formats. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_EXPORT_H
#define JSP_EXPORT_EXPORT_H

#include "analyze/categories.h"
#include "analyze/select.h"
#include "formats.h"
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
    const char *const *labels; /* of otlp: "KEY=VALUE", attributes of each process */
    uint32_t n_labels;
    const char *comment; /* of pprof; NULL: none */
    bool may_be_empty; /* pprof and otlp write a profile without samples, in place of -ENODATA */
};

/* Return when the recording started, in ns of the time of day; 0: unknown. */
int64_t jsp_export_time_of_day(const struct jsp_profile *p);

/* Return for how many ns it was recorded; 0: unknown. Of a part of a recording, or of one without
 * an end, this is the time from the first sample to the last one. */
uint64_t jsp_export_span(const struct jsp_profile *p);

/* Return the process of this number, or NULL if it is not known. */
const struct jsp_export_host *jsp_export_host(const struct jsp_export *e, int32_t recorded);

/* Return the names of a profile's two values, and the unit of the second, as Go has them for
 * bytes. Without a clock there is only the first. */
const char *const *jsp_export_types(const struct jsp_profile *p);

#endif
