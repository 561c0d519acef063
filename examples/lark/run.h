/* run.h - the interpreter's loop.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_RUN_H
#define LARK_RUN_H

#include "lark.h"

/* Run f. Its arguments stand at `slots`, room for its locals and operands was made
 * sure of, and slots[-1] becomes its result. A hot function goes on as native code.
 * False: an error was raised. */
bool lark_run_function(struct lark *l, struct lark_function *f, struct lark_value *slots);

#endif
