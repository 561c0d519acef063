/* cli/pager.h - the program that shows long answers on a terminal, where the user has set one.
 *
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_PAGER_H
#define JSP_CLI_PAGER_H

/* If standard output is a terminal and JSPROF_PAGER or else PAGER names a program, start it and
 * write to it. An empty name and "cat" mean none. Without memory or processes there is none. */
void cli_pager_start(void);

/* Flush, and wait until the user has left the pager. Return NULL, or the program if the shell could
 * not run it. */
const char *cli_pager_end(void);

/* Return the descriptor of the user's terminal if output goes to one, also through a pager; else
 * standard output's. */
int cli_terminal(void);

/* Say which terminal that is, where standard output has been replaced. */
void cli_terminal_set(int fd);

#endif
