/* export/names.h - names from a capture, as other formats want them.
 *
 * SPDX-License-Identifier: MIT
 *
 * One thread.
 */
#ifndef JSP_EXPORT_NAMES_H
#define JSP_EXPORT_NAMES_H

#include "analyze/profile.h"
#include "export/sink.h"

/* "name (file:line:column)" in its parts, which borrow from it. Without a place behind
 * the name, all of it is the name. */
struct jsp_names_parts {
    struct jsp_read_text name, file;
    uint32_t line, column; /* 0: not told */
};
struct jsp_names_parts jsp_names_split(const char *name);

/* A name in a line of text: what is not UTF-8 or could act on a terminal is a visible
 * escape, and `separator` of the line's fields (0: none) becomes a colon. */
void jsp_names_plain(struct jsp_sink *out, const char *name, char separator);
void jsp_names_plain_bytes(struct jsp_sink *out, struct jsp_read_text name,
                           char separator);

/* The thread's name and number, and its process where there are several: "main 12". */
void jsp_names_thread(struct jsp_sink *out, const struct jsp_profile *p, uint32_t thread,
                      char separator);

/* The same as it is in the capture, into `out`. */
enum { JSP_NAMES_THREAD = 160 };
struct jsp_read_text jsp_names_thread_text(char out[JSP_NAMES_THREAD],
                                           const struct jsp_profile *p, uint32_t thread);

/* Its name from the recording, or "". */
const char *jsp_names_of_thread(const struct jsp_profile *p, uint32_t thread);

#endif
