/* builtin.c - builtins for numbers, arrays, output and the world outside.
 *
 * SPDX-License-Identifier: MIT
 */
#include "builtin.h"

#include "heap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

bool lark_builtin_want(struct lark *l, const struct lark_call *call, uint32_t i,
                       enum lark_type type)
{
    const struct lark_value *v = &call->args[i];
    struct lark_value wanted = { .type = type };
    if (v->type == type || (type == LARK_DOUBLE && v->type == LARK_INT))
        return true;
    return lark_raise(l, "%s wants %s as argument %u, not %s",
                      call->args[-1].as.builtin->name,
                      type == LARK_DOUBLE ? "a number" : lark_type_name(&wanted), i + 1,
                      lark_type_name(v));
}

static void builtin_write_all(const struct lark_call *call)
{
    struct lark_text text = { 0 };
    for (uint32_t i = 0; i < call->n; i++) {
        if (i)
            lark_text_add(&text, " ", 1);
        lark_text_add_value(&text, &call->args[i]);
    }
    fwrite(text.bytes, 1, text.n, stdout);
    free(text.bytes);
}

static bool builtin_print(struct lark *l, struct lark_call *call)
{
    (void)l;
    builtin_write_all(call);
    putchar('\n');
    return true;
}

static bool builtin_write(struct lark *l, struct lark_call *call)
{
    (void)l;
    builtin_write_all(call);
    return true;
}

static bool builtin_len(struct lark *l, struct lark_call *call)
{
    const struct lark_value *v = call->args;
    if (v->type == LARK_STRING)
        call->result = lark_int(v->as.string->n_bytes);
    else if (v->type == LARK_ARRAY)
        call->result = lark_int(v->as.array->n);
    else
        return lark_raise(l, "len wants a string or an array, not %s", lark_type_name(v));
    return true;
}

static bool builtin_push(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_ARRAY))
        return false;
    lark_heap_append(l, call->args[0].as.array, call->args[1]);
    return true;
}

static bool builtin_pop(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_ARRAY))
        return false;
    struct lark_array *array = call->args[0].as.array;
    if (!array->n)
        return lark_raise(l, "pop of an empty array");
    call->result = array->items[--array->n];
    return true;
}

static bool builtin_array(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_INT))
        return false;
    int64_t n = call->args[0].as.i;
    if (n < 0 || n > INT32_MAX)
        return lark_raise(l, "no array of %lld items", (long long)n);
    struct lark_array *array = lark_heap_array(l, (size_t)n);
    for (int64_t i = 0; call->n > 1 && i < n; i++)
        array->items[i] = call->args[1];
    call->result = lark_array_value(array);
    return true;
}

static bool builtin_sqrt(struct lark *l, struct lark_call *call)
{
    if (!lark_builtin_want(l, call, 0, LARK_DOUBLE))
        return false;
    call->result = lark_double(sqrt(lark_to_double(&call->args[0])));
    return true;
}

/* Return the integer below a number, or the number that a string contains. */
static bool builtin_int(struct lark *l, struct lark_call *call)
{
    const struct lark_value *v = call->args;
    if (v->type == LARK_STRING) {
        call->result = lark_int(strtoll(v->as.string->bytes, NULL, 10));
        return true;
    }
    if (!lark_builtin_want(l, call, 0, LARK_DOUBLE))
        return false;
    double d = floor(lark_to_double(v));
    if (v->type == LARK_DOUBLE && !(d >= -0x1p63 && d < 0x1p63))
        return lark_raise(l, "no integer is near %g", v->as.d);
    call->result = v->type == LARK_INT ? *v : lark_int((int64_t)d);
    return true;
}

static bool builtin_float(struct lark *l, struct lark_call *call)
{
    const struct lark_value *v = call->args;
    if (v->type == LARK_STRING)
        call->result = lark_double(strtod(v->as.string->bytes, NULL));
    else if (lark_builtin_want(l, call, 0, LARK_DOUBLE))
        call->result = lark_double(lark_to_double(v));
    else
        return false;
    return true;
}

/* Return the seconds of CPU time that this thread has used. */
static bool builtin_clock(struct lark *l, struct lark_call *call)
{
    (void)l;
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    call->result = lark_double((double)now.tv_sec + (double)now.tv_nsec * 1e-9);
    return true;
}

static bool builtin_type(struct lark *l, struct lark_call *call)
{
    const char *name = lark_type_name(call->args);
    call->result = lark_string_value(lark_heap_text(l, name, strlen(name)));
    return true;
}

static bool builtin_error(struct lark *l, struct lark_call *call)
{
    struct lark_text text = { 0 };
    lark_text_add_value(&text, &call->args[0]);
    lark_raise(l, "%.*s", (int)text.n, text.bytes);
    free(text.bytes);
    return false;
}

static bool builtin_args(struct lark *l, struct lark_call *call)
{
    struct lark_array *array = lark_heap_array(l, 0);
    call->args[-1] = call->result = lark_array_value(array);
    for (int i = 0; i < l->n_args; i++) {
        struct lark_string *s = lark_heap_text(l, l->args[i], strlen(l->args[i]));
        lark_heap_append(l, array, lark_string_value(s));
    }
    return true;
}

static const struct lark_builtin builtin_core[] = {
    { "print", 0, 1000, builtin_print }, { "write", 0, 1000, builtin_write },
    { "len", 1, 1, builtin_len },        { "push", 2, 2, builtin_push },
    { "pop", 1, 1, builtin_pop },        { "array", 1, 2, builtin_array },
    { "sqrt", 1, 1, builtin_sqrt },      { "int", 1, 1, builtin_int },
    { "float", 1, 1, builtin_float },    { "clock", 0, 0, builtin_clock },
    { "type", 1, 1, builtin_type },      { "error", 1, 1, builtin_error },
    { "args", 0, 0, builtin_args },
};

const struct lark_builtin_list lark_builtins_core = {
    builtin_core, sizeof(builtin_core) / sizeof(builtin_core[0]),
};

static const struct lark_builtin_list *const builtin_lists[] = {
    &lark_builtins_core, &lark_builtins_text, &lark_builtins_sort, &lark_builtins_loop,
};

uint32_t lark_builtin_index(const struct lark_builtin *builtin)
{
    uint32_t before = 0;
    for (size_t i = 0; i < sizeof(builtin_lists) / sizeof(builtin_lists[0]); i++) {
        uintptr_t first = (uintptr_t)builtin_lists[i]->builtins;
        uintptr_t distance = (uintptr_t)builtin - first;
        if (distance < builtin_lists[i]->n * sizeof(*builtin))
            return before + (uint32_t)(distance / sizeof(*builtin));
        before += builtin_lists[i]->n;
    }
    return LARK_BUILTINS_MOST - 1;
}

void lark_builtins_add(struct lark *l)
{
    for (size_t i = 0; i < sizeof(builtin_lists) / sizeof(builtin_lists[0]); i++) {
        for (uint32_t j = 0; j < builtin_lists[i]->n; j++) {
            const struct lark_builtin *b = &builtin_lists[i]->builtins[j];
            uint32_t slot = lark_global_slot(l, b->name, strlen(b->name));
            l->globals[slot] =
                (struct lark_value){ .type = LARK_BUILTIN, .as.builtin = b };
            l->names[slot].declared = true;
        }
    }
}
