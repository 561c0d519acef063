/* builtin_text.c - builtins for strings and files, and the text of values.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builtin.h"
#include "heap.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_NESTING = 8 }; /* nested arrays that print shows; this also ends a cycle */

void lark_text_add(struct lark_text *t, const char *bytes, size_t n)
{
    if (n > UINT32_MAX / 2 - t->n) {
        fprintf(stderr, "lark: out of memory: no text of %zu bytes\n", n);
        exit(1);
    }
    t->bytes = lark_heap_grow(t->bytes, &t->capacity, t->n + (uint32_t)n + 1, 1);
    if (n)
        memcpy(t->bytes + t->n, bytes, n);
    t->n += (uint32_t)n;
}

static void text_add_nested(struct lark_text *t, const struct lark_value *v, int nesting)
{
    char scalar[LARK_TEXT_BYTES];
    if (v->type == LARK_STRING) {
        lark_text_add(t, v->as.string->bytes, v->as.string->n_bytes);
    } else if (v->type != LARK_ARRAY) {
        lark_text_add(t, scalar, lark_scalar_text(v, scalar));
    } else if (nesting == TEXT_NESTING) {
        lark_text_add(t, "[...]", 5);
    } else {
        lark_text_add(t, "[", 1);
        for (uint32_t i = 0; i < v->as.array->n; i++) {
            lark_text_add(t, ", ", i ? 2 : 0);
            text_add_nested(t, &v->as.array->items[i], nesting + 1);
        }
        lark_text_add(t, "]", 1);
    }
}

void lark_text_add_value(struct lark_text *t, const struct lark_value *v)
{
    text_add_nested(t, v, 0);
}

struct lark_value lark_text_end(struct lark *l, struct lark_text *t)
{
    struct lark_string *s = lark_heap_text(l, t->bytes ? t->bytes : "", t->n);
    free(t->bytes);
    return lark_string_value(s);
}

static bool text_str(struct lark *l, struct lark_call *call)
{
    struct lark_text t = { 0 };
    lark_text_add_value(&t, &call->args[0]);
    call->result = lark_text_end(l, &t);
    return true;
}

/* format(number, digits): with so many digits after the point. */
static bool text_format(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_DOUBLE) ||
        !lark_builtin_want(l, call, 1, LARK_INT))
        return false;
    char text[400];
    int64_t digits = call->args[1].as.i;
    if (digits < 0 || digits > 40)
        return lark_raise(l, "format wants 0 to 40 digits, not %lld", (long long)digits);
    int n =
        snprintf(text, sizeof(text), "%.*f", (int)digits, lark_to_double(&call->args[0]));
    call->result = lark_string_value(lark_heap_text(l, text, (size_t)n));
    return true;
}

/* substr(s, from, n): as many of the n bytes as exist. */
static bool text_substr(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_STRING) ||
        !lark_builtin_want(l, call, 1, LARK_INT) ||
        !lark_builtin_want(l, call, 2, LARK_INT))
        return false;
    const struct lark_string *s = call->args[0].as.string;
    int64_t from = call->args[1].as.i, n = call->args[2].as.i;
    from = from < 0 ? 0 : from > s->n_bytes ? s->n_bytes : from;
    n = n < 0 ? 0 : n > s->n_bytes - from ? s->n_bytes - from : n;
    struct lark_string *part = lark_heap_string(l, (size_t)n);
    memcpy(part->bytes, s->bytes + from, (size_t)n);
    call->result = lark_string_value(part);
    return true;
}

/* find(s, part, from): the position, or -1. */
static bool text_find(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_STRING) ||
        !lark_builtin_want(l, call, 1, LARK_STRING))
        return false;
    if (call->n > 2 && !lark_builtin_want(l, call, 2, LARK_INT))
        return false;
    const struct lark_string *s = call->args[0].as.string,
                             *part = call->args[1].as.string;
    int64_t from = call->n > 2 ? call->args[2].as.i : 0;
    call->result = lark_int(-1);
    if (from < 0 || from > s->n_bytes)
        return true;
    const char *at = memmem(s->bytes + from, s->n_bytes - (size_t)from, part->bytes,
                            part->n_bytes);
    if (at)
        call->result = lark_int(at - s->bytes);
    return true;
}

static bool text_byte(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_STRING) ||
        !lark_builtin_want(l, call, 1, LARK_INT))
        return false;
    const struct lark_string *s = call->args[0].as.string;
    int64_t at = call->args[1].as.i;
    if (at < 0 || at >= s->n_bytes)
        return lark_raise(l, "byte %lld is outside of the string", (long long)at);
    call->result = lark_int((uint8_t)s->bytes[at]);
    return true;
}

static bool text_char(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_INT))
        return false;
    call->result = lark_string_value(lark_heap_letter(l, (uint8_t)call->args[0].as.i));
    return true;
}

static bool text_lower(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_STRING))
        return false;
    const struct lark_string *s = call->args[0].as.string;
    struct lark_string *lower = lark_heap_string(l, s->n_bytes);
    for (uint32_t i = 0; i < s->n_bytes; i++)
        lower->bytes[i] = (char)tolower((unsigned char)s->bytes[i]);
    call->result = lark_string_value(lower);
    return true;
}

static bool text_split(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_STRING) ||
        !lark_builtin_want(l, call, 1, LARK_STRING))
        return false;
    const struct lark_string *s = call->args[0].as.string, *sep = call->args[1].as.string;
    if (!sep->n_bytes)
        return lark_raise(l, "split wants a separator that is not empty");
    struct lark_array *parts = lark_heap_array(l, 0);
    call->args[-1] = call->result = lark_array_value(parts);
    const char *from = s->bytes, *end = s->bytes + s->n_bytes;
    while (from) {
        const char *at = memmem(from, (size_t)(end - from), sep->bytes, sep->n_bytes);
        size_t n = (size_t)((at ? at : end) - from);
        lark_heap_append(l, parts, lark_string_value(lark_heap_text(l, from, n)));
        from = at ? at + sep->n_bytes : NULL;
    }
    return true;
}

static bool text_join(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_ARRAY) ||
        !lark_builtin_want(l, call, 1, LARK_STRING))
        return false;
    const struct lark_array *parts = call->args[0].as.array;
    const struct lark_string *sep = call->args[1].as.string;
    struct lark_text t = { 0 };
    for (uint32_t i = 0; i < parts->n; i++) {
        lark_text_add(&t, sep->bytes, i ? sep->n_bytes : 0);
        lark_text_add_value(&t, &parts->items[i]);
    }
    call->result = lark_text_end(l, &t);
    return true;
}

static bool text_read(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_STRING))
        return false;
    const char *path = call->args[0].as.string->bytes;
    FILE *file = fopen(path, "re");
    if (!file)
        return lark_raise(l, "%s: %s", path, strerror(errno));
    struct lark_text t = { 0 };
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof(block), file)) > 0;)
        lark_text_add(&t, block, n);
    int err = ferror(file) ? errno : 0;
    fclose(file);
    if (err) {
        free(t.bytes);
        return lark_raise(l, "%s: %s", path, strerror(err));
    }
    call->result = lark_text_end(l, &t);
    return true;
}

static const struct lark_builtin text_builtins[] = {
    { "str", 1, 1, text_str },       { "format", 2, 2, text_format },
    { "substr", 3, 3, text_substr }, { "find", 2, 3, text_find },
    { "byte", 2, 2, text_byte },     { "char", 1, 1, text_char },
    { "lower", 1, 1, text_lower },   { "split", 2, 2, text_split },
    { "join", 2, 2, text_join },     { "read", 1, 1, text_read },
};

const struct lark_builtin_list lark_builtins_text = {
    text_builtins, sizeof(text_builtins) / sizeof(text_builtins[0]),
};
