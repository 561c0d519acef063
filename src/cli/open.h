/* cli/open.h - opening captures for a command, and saying what was wrong with them.
 *
 * SPDX-License-Identifier: MIT
 *
 * Every failure is one line on standard error: "jsprof: FILE: reason". One thread.
 */
#ifndef JSP_CLI_OPEN_H
#define JSP_CLI_OPEN_H

#include "analyze/select.h"
#include "capture/read.h"
#include "cli/text.h"

struct cli_capture {
    const char *path;  /* as given */
    const char *label; /* for people: the path, or "standard input" */
    struct jsp_read read;
    struct jsp_profile profile;
    struct cli_style style;
    /* As cli_filter_open chose; all of it after cli_load. */
    struct jsp_select select;
    struct jsp_categories *categories; /* owned; NULL after cli_load */
    bool *threads;                     /* owned; NULL: all */
    bool is_part;                      /* of the time of the recording */
    const char *under;                 /* borrowed; NULL: any function */
};

/* CLI_OK or CLI_FAILED; the latter has been said and leaves nothing open. */
int cli_open(struct cli_capture *c, const char *path);
int cli_load(struct cli_capture *c, const char *path);
int cli_load_with(struct cli_capture *c, const char *path,
                  const struct jsp_profile_options *options);
void cli_close(struct cli_capture *c);

/* Which of two words is the capture, the other being a function's name: the one that
 * stands where it is `expected`, or else the one that names a file that is there. */
int cli_which_file(const char *const words[2], int expected);

/* What could not be read of the capture, a line for each cause. */
void cli_complain(const struct cli_capture *c, const struct jsp_read_defects *d);

/* "no samples in this capture", or none that were chosen, or no function of that name;
 * returns CLI_FAILED. */
int cli_no_samples(const struct cli_capture *c);

/* "jsprof: FILE: ..." on standard error; returns CLI_FAILED. */
int cli_fail(const char *label, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Note that memory lacked for a part of the answer, if `it_did`: main says so at the end, and
 * the command fails. Returns `it_did`. */
bool cli_incomplete(bool it_did);
bool cli_is_incomplete(void);

#endif
