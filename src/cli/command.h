/* cli/command.h - the commands of `jsprof`, and what each offers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_COMMAND_H
#define JSP_CLI_COMMAND_H

#include "options.h"
#include "table.h"

struct cli_command {
    const char *name;
    const char *summary;                 /* one line in `jsprof --help` */
    const char *help;                    /* fits a screen */
    int (*run)(struct cli_arguments *a); /* returns the exit status */
    bool is_followed;  /* --follow answers again while the capture grows */
    bool is_for_files; /* its answer is a file or a server, which needs no pager */
    const struct cli_document *documents[3]; /* of --json; they end with NULL */
};

extern const struct cli_command cli_info;
extern const struct cli_command cli_report;
extern const struct cli_command cli_tree;
extern const struct cli_command cli_convert;
extern const struct cli_command cli_view;
extern const struct cli_command cli_html;
extern const struct cli_command cli_annotate;
extern const struct cli_command cli_dump;
extern const struct cli_command cli_threads;
extern const struct cli_command cli_list;
extern const struct cli_command cli_callers;
extern const struct cli_command cli_callees;
extern const struct cli_command cli_diff;
extern const struct cli_command cli_calls;
extern const struct cli_command cli_loop;
extern const struct cli_command cli_stalls;
extern const struct cli_command cli_causes;
extern const struct cli_command cli_merge;

/* `jsprof merge` of files, of which one may be the output, too. */
int cli_merge_into(const char *output, const char *const *files, int n);

/* Of a capture without tasks. */
#define CLI_NO_TASKS                                                                         \
    "no tasks in this capture: the host recorded none (see \"Tasks and turns of a loop\" "    \
    "in jsprof.h; lark --profile-tasks)"

/* src/serve: processes that run */
extern const struct cli_command cli_ps;
extern const struct cli_command cli_record;
extern const struct cli_command cli_top;
extern const struct cli_command cli_serve_fleet;
extern const struct cli_command cli_push;

/* Print the JSON Schema (draft 2020-12) of the documents of the command. Return the exit
 * status. */
int cli_schema(const struct cli_command *c);

#endif
