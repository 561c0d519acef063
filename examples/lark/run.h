/* run.h - the interpreter's loop.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_RUN_H
#define LARK_RUN_H

#include "lark.h"

/* Run f. Its arguments are at `slots`, the caller has made sure of room for its locals
 * and operands, and slots[-1] becomes its result. A hot function continues as native
 * code. Return false after an error was raised. */
bool lark_run_function(struct lark *l, struct lark_function *f, struct lark_value *slots);

#endif
