/* cli/markdown.h - a whole answer as Markdown, to paste into an issue or to hand to a program
 * that reads text.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_MARKDOWN_H
#define JSP_CLI_MARKDOWN_H

#include "functions.h"

/* Print the recording, the `limit` largest functions, the categories, the hottest path and the
 * losses; limit UINT32_MAX: as many functions and steps of the path as fit into 4 KB. `rows` are
 * functions, sorted. CLI_OK, or CLI_FAILED, which is reported. */
int cli_markdown(struct cli_capture *c, const struct cli_functions *rows, uint32_t limit);

#endif
