/* cli/follow.h - --follow: the answer of a command again and again, while its captures grow.
 *
 * Each answer is made by a child process that reads the captures from their beginning, so a
 * capture that is cut while it is read ends that child alone. After an answer that took T, the
 * next one waits 9 T, and a second at least. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_FOLLOW_H
#define JSP_CLI_FOLLOW_H

#include "command.h"

/* Run the command until its captures are complete, or have no writer any more, or the user ends
 * it. A terminal shows the newest answer; other outputs get one after another, with an empty line
 * between them. `end` completes what the command has printed. Return the exit status. */
int cli_follow(const struct cli_command *c, struct cli_arguments *a, int (*end)(int status));

#endif
