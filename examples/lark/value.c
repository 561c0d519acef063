/* value.c - comparing values, and their names and texts.
 *
 * SPDX-License-Identifier: MIT
 */
#include "value.h"

#include "code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lark_type_name(const struct lark_value *v)
{
    static const char *const names[] = { "nil",    "bool",  "int",      "double",
                                         "string", "array", "function", "builtin" };
    return names[v->type];
}

static bool value_same_string(const struct lark_string *a, const struct lark_string *b)
{
    return a == b ||
           (a->n_bytes == b->n_bytes && !memcmp(a->bytes, b->bytes, a->n_bytes));
}

bool lark_equal(const struct lark_value *a, const struct lark_value *b)
{
    if (a->type != b->type)
        return lark_is_number(a) && lark_is_number(b) &&
               lark_to_double(a) == lark_to_double(b);
    if (a->type == LARK_NIL)
        return true;
    if (a->type == LARK_DOUBLE)
        return a->as.d == b->as.d;
    if (a->type == LARK_STRING)
        return value_same_string(a->as.string, b->as.string);
    return a->as.i == b->as.i;
}

static int value_compare_strings(const struct lark_string *a, const struct lark_string *b)
{
    uint32_t n = a->n_bytes < b->n_bytes ? a->n_bytes : b->n_bytes;
    int order = memcmp(a->bytes, b->bytes, n);
    if (order == 0)
        order = (a->n_bytes > b->n_bytes) - (a->n_bytes < b->n_bytes);
    return (order > 0) - (order < 0);
}

int lark_compare(const struct lark_value *a, const struct lark_value *b)
{
    if (a->type == LARK_STRING)
        return value_compare_strings(a->as.string, b->as.string);
    if (a->type == LARK_INT && b->type == LARK_INT)
        return (a->as.i > b->as.i) - (a->as.i < b->as.i);
    double x = lark_to_double(a), y = lark_to_double(b);
    if (x < y)
        return -1;
    if (x > y)
        return 1;
    return x == y ? 0 : 2;
}

/* Write a short text if it reads back as the same number, and never one like an integer. */
static size_t value_double_text(double d, char text[LARK_TEXT_BYTES])
{
    int n = snprintf(text, LARK_TEXT_BYTES, "%.15g", d);
    if (strtod(text, NULL) != d)
        n = snprintf(text, LARK_TEXT_BYTES, "%.17g", d);
    if (d != d)
        n = snprintf(text, LARK_TEXT_BYTES, "nan");
    else if (!strpbrk(text, ".einf"))
        n += snprintf(text + n, LARK_TEXT_BYTES - (size_t)n, ".0");
    return (size_t)n;
}

/* snprintf returns how long a text would have been. */
static size_t value_kept(int n)
{
    return n < LARK_TEXT_BYTES ? (size_t)n : LARK_TEXT_BYTES - 1;
}

size_t lark_scalar_text(const struct lark_value *v, char text[LARK_TEXT_BYTES])
{
    switch (v->type) {
    case LARK_BOOL:
        return value_kept(snprintf(text, LARK_TEXT_BYTES, v->as.i ? "true" : "false"));
    case LARK_INT:
        return value_kept(snprintf(text, LARK_TEXT_BYTES, "%lld", (long long)v->as.i));
    case LARK_DOUBLE:
        return value_double_text(v->as.d, text);
    case LARK_FUNCTION:
        return value_kept(snprintf(text, LARK_TEXT_BYTES, "fn %s", v->as.function->name));
    case LARK_BUILTIN:
        return value_kept(snprintf(text, LARK_TEXT_BYTES, "fn %s", v->as.builtin->name));
    default:
        return value_kept(snprintf(text, LARK_TEXT_BYTES, "nil"));
    }
}
