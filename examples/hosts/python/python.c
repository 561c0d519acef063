/* python.c - CPython 3.11 as a host of jsprof, without a change to it: PEP 523 lets a program
 * put its own function around the evaluation of each frame.
 *
 *     ./python PROGRAM.py OUT.cap
 *
 * Each frame then has an activation of our function on the C stack, which links itself to the
 * one outside it. The walker reads that chain in the handler: the name from the code object,
 * and the instruction from the frame. Code objects give the lines when they first run.
 *
 * SPDX-License-Identifier: MIT
 */
#define Py_BUILD_CORE_MODULE 1 /* PEP 523's frames are in this internal header */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <internal/pycore_frame.h>
#include <jsprof.h>

struct activation {
    struct activation *up; /* the next one further out */
    const _PyInterpreterFrame *frame;
    const jsprof_function *function;
    void *sp;
};

/* Each thread that runs Python has a chain of its own. Only one thread attaches here. */
static _Thread_local struct activation *volatile innermost;
static jsprof_thread *me;
static Py_ssize_t slot; /* where a code object keeps its function */

/* Give the function its lines, which CPython keeps compressed. */
static void set_lines(jsprof_function *function, PyCodeObject *code)
{
    jsprof_code_line rows[4096];
    uint32_t n = 0;
    int last = -1;
    for (Py_ssize_t at = 0; at < Py_SIZE(code) && n < 4096; at++) {
        int line = PyCode_Addr2Line(code, (int)(at * (Py_ssize_t)sizeof(_Py_CODEUNIT)));
        if (line > 0 && line != last)
            rows[n++] = (jsprof_code_line){ (uint32_t)at + 1, (uint32_t)line };
        last = line;
    }
    jsprof_function_lines(function, rows, n);
}

static void free_function(void *function)
{
    jsprof_function_free(function);
}

static jsprof_function *function_of(PyCodeObject *code)
{
    void *found = NULL;
    if (_PyCode_GetExtra((PyObject *)code, slot, &found) == 0 && found)
        return found;
    const char *name = PyUnicode_AsUTF8(code->co_qualname);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    jsprof_function *made = NULL;
    if (!name || !file ||
        jsprof_function_new(&made, name, file, (uint32_t)code->co_firstlineno,
                            JSPROF_KIND_VM) < 0) {
        PyErr_Clear();
        return NULL;
    }
    set_lines(made, code);
    _PyCode_SetExtra((PyObject *)code, slot, made);
    return made;
}

static PyObject *evaluate(PyThreadState *state, _PyInterpreterFrame *frame, int throws)
{
    struct activation mine = { innermost, frame, function_of(frame->f_code), &mine };
    __atomic_signal_fence(__ATOMIC_RELEASE); /* the handler of this thread reads it whole */
    innermost = &mine;
    PyObject *result = _PyEval_EvalFrameDefault(state, frame, throws);
    innermost = mine.up;
    return result;
}

/* Called in the handler: it reads memory, and nothing else. */
static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    uint32_t n = 0;
    (void)host, (void)ucontext;
    for (const struct activation *a = innermost; a && n < max; a = a->up) {
        if (!a->function)
            continue;
        const _Py_CODEUNIT *first = _PyCode_CODE(a->frame->f_code);
        out[n++] = (jsprof_frame){
            .function = a->function,
            .sp = (uintptr_t)a->sp,
            .pc = (uint64_t)(a->frame->prev_instr - first) + 1, /* 0 means none */
        };
    }
    return n;
}

int main(int argc, char **argv)
{
    jsprof *prof;
    jsprof_options options = { .size = sizeof options, .path = argc > 2 ? argv[2] : NULL };
    FILE *program = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!program)
        return fprintf(stderr, "usage: python PROGRAM.py OUT.cap\n"), 2;
    Py_Initialize();
    slot = _PyEval_RequestCodeExtraIndex(free_function);
    int err = jsprof_open(&prof, &options);
    if (!err && !(err = jsprof_thread_attach(prof, "main", &me)))
        err = jsprof_thread_set_walker(me, walk, NULL);
    if (!err)
        err = jsprof_start(prof);
    if (err)
        return fprintf(stderr, "python: %s\n", jsprof_strerror(err)), 1;
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluate);
    int failed = PyRun_SimpleFile(program, argv[1]);
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), _PyEval_EvalFrameDefault);
    jsprof_close(prof);
    fclose(program);
    return Py_FinalizeEx() < 0 || failed;
}
