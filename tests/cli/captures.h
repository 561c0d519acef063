/* captures.h - what the captures for the tests of the tool are made of.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_CAPTURES_H
#define CLI_CAPTURES_H

#include "unit/capture_builder.h"

/* The embedded file jsprof/calls of the capture of that name; its start is there. */
void captures_write_calls(struct builder *b);
void captures_write_calls2(struct builder *b);
void captures_write_calls3(struct builder *b);
void captures_write_circle(struct builder *b);
void captures_write_badcalls(struct builder *b);

#endif
