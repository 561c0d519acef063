/* tests/bench/interp.h - a small bytecode interpreter, busy and with frames of its own.
 *
 * It keeps its activations in an array, as interpreters do, with the label and line
 * that a profiler wants to see: recording it adds nothing to a call. One run works
 * through a fixed program (two nested functions with loops), so equal runs are
 * equal work.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BENCH_INTERP_H
#define BENCH_INTERP_H

#include <jsprof.h>
#include <stdint.h>

enum interp_op { INTERP_PUSH, INTERP_ADD, INTERP_MUL, INTERP_LOAD, INTERP_STORE, INTERP_DEC,
                 INTERP_JUMP_IF, INTERP_CALL, INTERP_RET };

enum { INTERP_DEPTH = 64, INTERP_LOCALS = 4, INTERP_FUNCTIONS = 3 };

struct interp_code {
    uint8_t op, arg;
};

/* One activation; label and line are where a jsprof_stack can find them. */
struct interp_frame {
    const char *label;
    void *sp;
    uint32_t line;
    const struct interp_code *pc;
    uint64_t locals[INTERP_LOCALS];
};

struct interp {
    struct interp_frame stack[INTERP_DEPTH], *frames;
    uint32_t depth;
};

/* outer: 40 x middle; middle: 30 x inner and a sum; inner: a loop of 25. */
static const struct interp_code interp_outer[] = {
    { INTERP_PUSH, 40 }, { INTERP_STORE, 0 }, { INTERP_CALL, 1 }, { INTERP_DEC, 0 },
    { INTERP_LOAD, 0 }, { INTERP_JUMP_IF, 2 }, { INTERP_RET, 0 },
};
static const struct interp_code interp_middle[] = {
    { INTERP_PUSH, 30 }, { INTERP_STORE, 0 }, { INTERP_CALL, 2 }, { INTERP_DEC, 0 },
    { INTERP_LOAD, 0 }, { INTERP_JUMP_IF, 2 }, { INTERP_RET, 0 },
};
static const struct interp_code interp_inner[] = {
    { INTERP_PUSH, 25 }, { INTERP_STORE, 0 }, { INTERP_LOAD, 1 }, { INTERP_PUSH, 3 },
    { INTERP_MUL, 0 }, { INTERP_LOAD, 0 }, { INTERP_ADD, 0 }, { INTERP_STORE, 1 },
    { INTERP_DEC, 0 }, { INTERP_LOAD, 0 }, { INTERP_JUMP_IF, 2 }, { INTERP_RET, 0 },
};
static const struct interp_code *const interp_bodies[INTERP_FUNCTIONS] = {
    interp_outer, interp_middle, interp_inner,
};
static const char *const interp_labels[INTERP_FUNCTIONS] = { "outer", "middle", "inner" };

static inline struct interp_frame *interp_enter(struct interp *vm, uint32_t function)
{
    struct interp_frame *f = &vm->frames[vm->depth];
    f->label = interp_labels[function];
    f->sp = vm;
    f->line = function;
    f->pc = interp_bodies[function];
    __atomic_signal_fence(__ATOMIC_RELEASE); /* ORDER: for the own thread's handler */
    vm->depth++;
    return f;
}

/* Work through the program once; a sum of what it computed. */
static __attribute__((noinline)) uint64_t interp_run(struct interp *vm)
{
    uint64_t values[8], sum = 0;
    uint32_t top = 0;
    struct interp_frame *f = interp_enter(vm, 0);

    for (;;) {
        struct interp_code at = *f->pc++;
        switch (at.op) {
        case INTERP_PUSH: values[top++] = at.arg; break;
        case INTERP_ADD: top--; values[top - 1] += values[top]; break;
        case INTERP_MUL: top--; values[top - 1] *= values[top]; break;
        case INTERP_LOAD: values[top++] = f->locals[at.arg]; break;
        case INTERP_STORE: f->locals[at.arg] = values[--top]; break;
        case INTERP_DEC: f->locals[at.arg]--; break;
        case INTERP_JUMP_IF:
            if (values[--top])
                f->pc = interp_bodies[f->line] + at.arg;
            break;
        case INTERP_CALL: f = interp_enter(vm, at.arg); break;
        default:
            sum += f->locals[1];
            if (--vm->depth == 0)
                return sum;
            f = &vm->frames[vm->depth - 1];
            break;
        }
    }
}

/* Where jsprof finds the frames. */
static inline jsprof_stack interp_describe(struct interp *vm)
{
    vm->frames = vm->stack;
    return (jsprof_stack){
        .size = sizeof(jsprof_stack), .depth = &vm->depth, .entries = &vm->frames,
        .limit = INTERP_DEPTH, .depth_bytes = 4, .stride = sizeof(struct interp_frame),
        .label_offset = offsetof(struct interp_frame, label),
        .detail_offset = JSPROF_NO_FIELD,
        .sp_offset = offsetof(struct interp_frame, sp),
        .line_offset = offsetof(struct interp_frame, line), .pc_offset = JSPROF_NO_FIELD,
    };
}

#endif
