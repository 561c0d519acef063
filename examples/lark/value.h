/* value.h - what a Lark program computes with: numbers, strings, arrays, functions.
 *
 * A value is 16 bytes, type and payload, in every place: locals, operands, globals,
 * array items. Native code relies on the two offsets. Strings and arrays belong to
 * the collector (heap.h); functions and builtins live as long as the interpreter.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LARK_VALUE_H
#define LARK_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lark_type {
    LARK_NIL,
    LARK_BOOL,
    LARK_INT,
    LARK_DOUBLE,
    LARK_STRING,
    LARK_ARRAY,
    LARK_FUNCTION,
    LARK_BUILTIN,
};

struct lark_string;
struct lark_array;
struct lark_function;
struct lark_builtin;

struct lark_value {
    uint32_t type; /* enum lark_type */
    uint32_t unused;
    union {
        int64_t i; /* int; bool: 0 or 1 */
        double d;
        struct lark_object *object;
        struct lark_string *string;
        struct lark_array *array;
        struct lark_function *function;
        const struct lark_builtin *builtin;
    } as;
};
_Static_assert(sizeof(struct lark_value) == 16, "native code steps by 16");
_Static_assert(offsetof(struct lark_value, as) == 8, "native code reads at 8");

/* Every object that the collector frees begins like this. */
struct lark_object {
    struct lark_object *next;
    uint32_t type; /* LARK_STRING or LARK_ARRAY */
    bool marked;
};

struct lark_string {
    struct lark_object object;
    uint32_t n_bytes;
    char bytes[]; /* and a terminating zero, which n_bytes does not count */
};

struct lark_array {
    struct lark_object object;
    uint32_t n;
    uint32_t capacity;
    struct lark_value *items; /* owned */
};

static inline struct lark_value lark_nil(void)
{
    return (struct lark_value){ .type = LARK_NIL };
}

static inline struct lark_value lark_bool(bool b)
{
    return (struct lark_value){ .type = LARK_BOOL, .as.i = b };
}

static inline struct lark_value lark_int(int64_t i)
{
    return (struct lark_value){ .type = LARK_INT, .as.i = i };
}

static inline struct lark_value lark_double(double d)
{
    return (struct lark_value){ .type = LARK_DOUBLE, .as.d = d };
}

static inline struct lark_value lark_string_value(struct lark_string *s)
{
    return (struct lark_value){ .type = LARK_STRING, .as.string = s };
}

static inline struct lark_value lark_array_value(struct lark_array *a)
{
    return (struct lark_value){ .type = LARK_ARRAY, .as.array = a };
}

/* nil and false are false, everything else is true. */
static inline bool lark_is_true(const struct lark_value *v)
{
    return v->type != LARK_NIL && (v->type != LARK_BOOL || v->as.i != 0);
}

static inline bool lark_is_number(const struct lark_value *v)
{
    return v->type == LARK_INT || v->type == LARK_DOUBLE;
}

static inline double lark_to_double(const struct lark_value *number)
{
    return number->type == LARK_INT ? (double)number->as.i : number->as.d;
}

/* "int", "string", ... as error messages and type() call it. */
const char *lark_type_name(const struct lark_value *v);

/* Compare by content for strings, numerically for numbers, else by identity. */
bool lark_equal(const struct lark_value *a, const struct lark_value *b);

/* Return -1, 0 or 1, for two numbers or two strings only. NaN compares as 2. */
int lark_compare(const struct lark_value *a, const struct lark_value *b);

/* Write the text of any value but a string or an array to `text`; return its length. */
enum { LARK_TEXT_BYTES = 64 };
size_t lark_scalar_text(const struct lark_value *v, char text[LARK_TEXT_BYTES]);

#endif
