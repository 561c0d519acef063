/* export/shown_names.h - names from a capture, in the forms of other formats.
 *
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_SHOWN_NAMES_H
#define JSP_EXPORT_SHOWN_NAMES_H

#include "analyze/profile.h"
#include "sink.h"

/* Write a name into a line of text: bytes that are not UTF-8 and characters that could act on
 * a terminal become visible escapes, and `separator`, which separates fields (0: none),
 * becomes a colon. */
void jsp_shown_plain(struct jsp_sink *out, const char *name, char separator);

/* Write a name that need not end in NUL, as jsp_shown_plain does. */
void jsp_shown_plain_bytes(struct jsp_sink *out, struct jsp_read_text name,
                           char separator);

/* Write the thread's name and number, with its process if there are several: "main
 * 12". */
void jsp_shown_thread(struct jsp_sink *out, const struct jsp_profile *p, uint32_t thread,
                      char separator);

/* Format the same into `out`, unescaped. */
enum { JSP_NAMES_THREAD = 160 };
struct jsp_read_text jsp_shown_thread_text(char out[JSP_NAMES_THREAD],
                                           const struct jsp_profile *p, uint32_t thread);

/* Format a set of labels as "route=/login, tenant=7", unescaped; what does not fit is "...". */
enum { JSP_NAMES_LABELS = 2048 };
struct jsp_read_text jsp_shown_labels_text(char out[JSP_NAMES_LABELS],
                                           const struct jsp_label_set *set);

/* Return the thread's name in the recording, or "". */
const char *jsp_shown_of_thread(const struct jsp_profile *p, uint32_t thread);

#endif
