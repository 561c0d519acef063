/* cli/lines.h - file and line of native code, from a tool such as addr2line.
 *
 * Each file gets a child process, without a shell, that reads the file's addresses from
 * standard input. The tool must be in PATH. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_LINES_H
#define JSP_CLI_LINES_H

#include <stddef.h>
#include <stdint.h>

struct cli_lines_tool {
    const char *name;
    char path[4096];
};

/* Find the first of eu-addr2line, llvm-symbolizer and addr2line. Return 0, or -ENOENT if
 * there is none. */
int cli_lines_find(struct cli_lines_tool *tool);

/* Ask the tool for `n` addresses of a file. *text has a line for each; the caller frees it.
 * Return 0, -EBADMSG if the tool failed or lines are missing, -ETIMEDOUT, or another negative
 * errno. */
struct cli_lines_batch {
    const char *file;
    const uint64_t *addresses;
    uint32_t n;
};
int cli_lines_ask(const struct cli_lines_tool *tool, const struct cli_lines_batch *batch,
                  char **text);

/* Split the answer "file:line", "file:line:column" or "??:0" in place. Return the line; 0:
 * not known. */
uint32_t cli_lines_split(char *answer);

#endif
