/* cli/diff_tasks.h - the first place where the tasks of two captures ran in different orders.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_DIFF_TASKS_H
#define JSP_CLI_DIFF_TASKS_H

#include "table.h"

extern const struct cli_document cli_diff_tasks_document;

/* Print it, with both stacks. Return the exit status. */
int cli_diff_tasks(struct cli_capture captures[2], const struct cli_form *form);

#endif
