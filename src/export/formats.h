/* export/formats.h - the formats of exports, each a function that writes a whole file.
 *
 * The sink keeps failures of the output, so a function returns only its own.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_FORMATS_H
#define JSP_EXPORT_FORMATS_H

struct jsp_export;

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

#endif
