/* lark.c - the interpreter as a whole: opening, calling, errors, closing.
 *
 * SPDX-License-Identifier: MIT
 */
#include "lark.h"

#include "heap.h"
#include "profile.h"
#include "run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { LARK_TRACE_LINES = 8, LARK_C_STACK = 8 << 20 };

/* Every call of Lark is a call of C. They may use three quarters of the C stack. */
static uintptr_t lark_c_limit(void)
{
    struct rlimit stack;
    rlim_t bytes = LARK_C_STACK;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < bytes)
        bytes = stack.rlim_cur;
    return (uintptr_t)__builtin_frame_address(0) - bytes / 4 * 3;
}

static bool lark_has_room(const struct lark *l, const struct lark_function *f,
                          const struct lark_value *slots)
{
    return l->depth < LARK_MAX_DEPTH &&
           (uintptr_t)__builtin_frame_address(0) > l->c_limit &&
           (size_t)(l->end - slots) >= (size_t)f->n_locals + f->n_operands;
}

bool lark_open(struct lark *l, const char *path)
{
    *l = (struct lark){ .path = path, .line = 1, .heap_limit = 4 << 20 };
    size_t bytes = LARK_STACK_VALUES * sizeof(struct lark_value);
    l->stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (l->stack == MAP_FAILED)
        return false;
    l->top = l->stack;
    l->end = l->stack + LARK_STACK_VALUES;
    l->c_limit = lark_c_limit();
    lark_builtins_add(l);
    return true;
}

void lark_close(struct lark *l)
{
    lark_heap_free_all(l);
    for (uint32_t i = 0; i < l->n_functions; i++)
        lark_function_free(l->functions[i]);
    for (uint32_t i = 0; i < l->n_globals; i++)
        free(l->names[i].name);
    free(l->functions);
    free(l->globals);
    free(l->names);
    munmap(l->stack, LARK_STACK_VALUES * sizeof(struct lark_value));
}

bool lark_raise(struct lark *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "%s:%u: ", l->path, l->line);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return false;
}

/* Print the calls that the error ended, innermost first. */
static void lark_trace(struct lark *l, const struct lark_function *f)
{
    if (l->n_traced < LARK_TRACE_LINES)
        fprintf(stderr, "  in %s (%s:%u)\n", f->name, l->path, l->line);
    else if (l->n_traced == LARK_TRACE_LINES)
        fprintf(stderr, "  ...\n");
    l->n_traced++;
}

LARK_LOOP static bool lark_call_function(struct lark *l, struct lark_function *f,
                                         struct lark_value *slots)
{
    if (!lark_has_room(l, f, slots))
        return lark_raise(l, "too many calls within calls");
    l->depth++;
    bool ok = lark_run_function(l, f, slots);
    l->depth--;
    if (!ok)
        lark_trace(l, f);
    return ok;
}

LARK_LOOP static bool lark_call_builtin(struct lark *l, const struct lark_builtin *b,
                                        struct lark_call *call)
{
    if (call->n < b->n_least || call->n > b->n_most)
        return lark_raise(l, "%s takes %u to %u arguments, not %u", b->name, b->n_least,
                          b->n_most, call->n);
    struct lark_profile_frame frame;
    lark_profile_enter(&frame, lark_profile_builtin(b));
    bool ok = b->run(l, call);
    lark_profile_leave(&frame);
    call->args[-1] = call->result;
    return ok;
}

LARK_LOOP bool lark_call(struct lark *l, struct lark_value *callee, uint32_t n)
{
    if (callee->type == LARK_BUILTIN) {
        struct lark_call call = { .args = callee + 1, .n = n };
        return lark_call_builtin(l, callee->as.builtin, &call);
    }
    if (callee->type != LARK_FUNCTION)
        return lark_raise(l, "no call of %s", lark_type_name(callee));
    struct lark_function *f = callee->as.function;
    if (n != f->n_params)
        return lark_raise(l, "%s takes %u argument%s, not %u", f->name, f->n_params,
                          f->n_params == 1 ? "" : "s", n);
    return lark_call_function(l, f, callee + 1);
}

bool lark_run(struct lark *l, struct lark_function *script)
{
    *l->top++ = (struct lark_value){ .type = LARK_FUNCTION, .as.function = script };
    l->n_traced = 0;
    return lark_call(l, l->stack, 0);
}

uint32_t lark_global_slot(struct lark *l, const char *name, size_t n_bytes)
{
    for (uint32_t i = 0; i < l->n_globals; i++)
        if (strlen(l->names[i].name) == n_bytes &&
            !memcmp(l->names[i].name, name, n_bytes))
            return i;
    uint32_t n = l->n_globals + 1;
    l->globals = lark_heap_grow(l->globals, &l->globals_capacity, n, sizeof(*l->globals));
    l->names = lark_heap_grow(l->names, &l->names_capacity, n, sizeof(*l->names));
    l->globals[l->n_globals] = lark_nil();
    l->names[l->n_globals] =
        (struct lark_global){ .name = lark_heap_resize(NULL, n_bytes + 1) };
    memcpy(l->names[l->n_globals].name, name, n_bytes);
    l->names[l->n_globals].name[n_bytes] = 0;
    return l->n_globals++;
}
