/* builtin.h - the functions that every Lark program has: their lists and their helpers.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_BUILTIN_H
#define LARK_BUILTIN_H

#include "lark.h"

enum { LARK_BUILTINS_MOST = 64 };

struct lark_builtin_list {
    const struct lark_builtin *builtins;
    uint32_t n;
};

extern const struct lark_builtin_list lark_builtins_core; /* builtin.c */
extern const struct lark_builtin_list lark_builtins_text; /* builtin_text.c */
extern const struct lark_builtin_list lark_builtins_sort; /* builtin_sort.c */
extern const struct lark_builtin_list lark_builtins_loop; /* builtin_loop.c */

/* Unique, and below LARK_BUILTINS_MOST. */
uint32_t lark_builtin_index(const struct lark_builtin *builtin);

/* Return true if argument i has this type; else raise an error. */
bool lark_builtin_want(struct lark *l, const struct lark_call *call, uint32_t i,
                       enum lark_type type);

/* Call what the script has scheduled, until nothing is left. Return false after an error. */
bool lark_loop_run(struct lark *l);

/* Text that grows; begin with zeros, end with free(bytes). */
struct lark_text {
    char *bytes;
    uint32_t n, capacity;
};

void lark_text_add(struct lark_text *t, const char *bytes, size_t n);

/* Append any value as print shows it. */
void lark_text_add_value(struct lark_text *t, const struct lark_value *v);

/* Make a string of the text, and free the text. */
struct lark_value lark_text_end(struct lark *l, struct lark_text *t);

#endif
