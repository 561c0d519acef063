/* captures.h - the parts of the captures for the tests of the tool.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef CLI_CAPTURES_H
#define CLI_CAPTURES_H

#include "unit/capture_builder.h"

/* captures.c: the beginning of a capture; what several captures contain. */
void captures_start(struct builder *b, bool is_big);
void captures_names(struct builder *b);
void captures_samples(struct builder *b);
void captures_losses(struct builder *b, const char *text);
void captures_good(struct builder *b);

/* The other files: each writes the capture of that name. */
void captures_listing(struct builder *b);
void captures_nested(struct builder *b);
void captures_lies(struct builder *b);
void captures_hostile(struct builder *b);
void captures_events(struct builder *b);
void captures_allocations(struct builder *b);
void captures_states(struct builder *b);
void captures_states_big(struct builder *b);
void captures_looked(struct builder *b);
void captures_looked_wall(struct builder *b);
void captures_timed(struct builder *b);
void captures_tasks(struct builder *b);
void captures_tasks2(struct builder *b);
void captures_causes(struct builder *b);
void captures_crowd(struct builder *b);
void captures_crowd_big(struct builder *b);

/* The embedded file jsprof/calls of the capture of that name, after the capture's start. */
void captures_write_calls(struct builder *b);
void captures_write_calls2(struct builder *b);
void captures_write_calls3(struct builder *b);
void captures_write_circle(struct builder *b);
void captures_write_badcalls(struct builder *b);

#endif
