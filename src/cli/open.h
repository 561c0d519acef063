/* cli/open.h - opens captures for a command, and reports their defects.
 *
 * Every failure is one line on standard error: "jsprof: FILE: reason". One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_OPEN_H
#define JSP_CLI_OPEN_H

#include "jsprof-read.h"
#include "text.h"

struct cli_capture {
    const char *path;  /* as given */
    const char *label; /* for people: the path, or "standard input" */
    struct cli_style style;
    jsprof_reader *reader; /* owned */
    jsprof_read_info info; /* of the capture and the choice; see cli_about */
    const char *under;     /* borrowed; NULL: any function */
    bool is_cut;           /* it ends inside a record: reported */
};

/* From now on call the file of this path so, in messages and documents. Both are copied. */
void cli_call_file(const char *path, const char *label);

/* Set path, label and style alone. */
void cli_name_capture(struct cli_capture *c, const char *path);

/* Load a capture. Return CLI_OK; or CLI_USAGE or CLI_FAILED: the error is reported and nothing
 * is open. A recording without its end is not reported: this is for commands that say so
 * themselves or do not read what was recorded. */
int cli_load(struct cli_capture *c, const char *path);

/* Load a capture with options of the library, whose input and progress are set here. Return as
 * cli_load, but report a recording without its end, too. */
int cli_load_with(struct cli_capture *c, const char *path, const jsprof_read_options *options,
                  const char *command);

/* Do the same with several captures, which are joined as by jsprof merge. */
int cli_load_several(struct cli_capture *c, const char *const *paths, size_t n,
                     const jsprof_read_options *options, const char *command);

/* Read the info again, after a choice. */
void cli_about(struct cli_capture *c);

/* Close the capture. */
void cli_close(struct cli_capture *c);

/* Return a time of the capture on the recorder's clock. */
static inline int64_t cli_when(const struct cli_capture *c, int64_t time)
{
    return (int64_t)((uint64_t)c->info.start + (uint64_t)time);
}

/* Report an error of the library. Return CLI_USAGE if an option is wrong, else CLI_FAILED. */
int cli_refuse(const struct cli_capture *c, const jsprof_read_error *e, const char *command);

/* Return which of two words is the capture; the other is the name of a function. It is the
 * first, unless only the second names an existing file. */
int cli_which_file(const char *const words[2]);

/* Report a cause for which a part of the capture could not be read. */
void cli_complain_of(const struct cli_capture *c, const jsprof_read_defect *d);

/* Report that the capture has no samples, or none that were chosen, or no function of that
 * name. Return CLI_FAILED. */
int cli_no_samples(const struct cli_capture *c);

/* Print "jsprof: FILE: ..." on standard error. Return CLI_FAILED. */
int cli_fail(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* If `it_did`, note that memory lacked for a part of the answer: main reports it at the end,
 * and the command fails. Return `it_did`. */
bool cli_incomplete(bool it_did);

/* Return true if memory lacked for a part of the answer. */
bool cli_is_incomplete(void);

#endif
