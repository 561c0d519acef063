/* cli/command.h - the commands of `jsprof`, and what each offers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_COMMAND_H
#define JSP_CLI_COMMAND_H

#include "cli/options.h"

struct cli_command {
    const char *name;
    const char *summary;                 /* one line in `jsprof --help` */
    const char *help;                    /* fits a screen */
    int (*run)(struct cli_arguments *a); /* returns the exit status */
};

extern const struct cli_command cli_info, cli_report, cli_tree, cli_convert, cli_html,
    cli_dump;
extern const struct cli_command cli_annotate;

/* Exactly one file was named: returns it, or NULL when the error has been said. */
const char *cli_one_file(const struct cli_arguments *a);

#endif
