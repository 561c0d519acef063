/* session/register.h - the code that a host registers. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_REGISTER_H
#define JSP_SESSION_REGISTER_H

#include "session.h"

int jsp_register_code(struct jsprof *p, const jsprof_code *code);
int jsp_register_remove(struct jsprof *p, uint64_t start);
int jsp_register_move(struct jsprof *p, uint64_t from, uint64_t to);
int jsp_register_listing(struct jsprof *p, const jsprof_listing *listing);
int jsp_register_loop(struct jsprof *p, uint64_t start, uint64_t length);
int jsp_register_hidden(struct jsprof *p, uint64_t start, uint64_t length);

#endif
