/* cli/open.h - opens captures for a command, and reports their defects.
 *
 * Every failure is one line on standard error: "jsprof: FILE: reason". One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_OPEN_H
#define JSP_CLI_OPEN_H

#include "analyze/idle.h"
#include "capture/read.h"
#include "text.h"

struct cli_capture {
    const char *path;  /* as given */
    const char *label; /* for people: the path, or "standard input" */
    struct jsp_read read;
    struct jsp_profile profile;
    struct jsp_naming_options naming; /* borrowed from the command's options */
    struct cli_style style;
    /* What cli_filter_open chose. After cli_load it is everything. */
    struct jsp_select select;
    struct jsp_categories *categories; /* owned; NULL after cli_load */
    bool *threads;                     /* owned; NULL: all */
    /* --time, --during, --state or --syscall chose a part of the recording */
    bool is_part;
    const char *under;                 /* borrowed; NULL: any function */
    bool *left_out;                    /* owned; NULL: no stack */
    struct jsp_idle_sum idle;          /* what is left out because threads were idle */
};

/* Open a capture; open and load it. Return CLI_OK, or CLI_FAILED: the error is reported and
 * nothing is open. */
int cli_open(struct cli_capture *c, const char *path);
int cli_load(struct cli_capture *c, const char *path);
int cli_load_with(struct cli_capture *c, const char *path,
                  const struct jsp_profile_options *options);
void cli_close(struct cli_capture *c);

/* Return which of two words is the capture; the other is the name of a function. It is the
 * first, unless only the second names an existing file. */
int cli_which_file(const char *const words[2]);

/* Report what could not be read of the capture, a line for each cause. */
void cli_complain(const struct cli_capture *c, const struct jsp_read_defects *d);

/* Report that the capture has no samples, or none that were chosen, or no function of that
 * name. Return CLI_FAILED. */
int cli_no_samples(const struct cli_capture *c);

/* Print "jsprof: FILE: ..." on standard error. Return CLI_FAILED. */
int cli_fail(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* If `it_did`, note that memory lacked for a part of the answer: main reports it at the end,
 * and the command fails. Return `it_did`. */
bool cli_incomplete(bool it_did);
bool cli_is_incomplete(void);

#endif
