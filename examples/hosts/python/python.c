/* python.c - CPython 3.11 as a host of jsprof, without a change to it: PEP 523 lets a program
 * put its own function around the evaluation of each frame.
 *
 *     JSPROF=OUT.cap [JSPROF_CALLS=all] ./python PROGRAM.py
 *
 * Each frame then has an activation of our function on the C stack, which links itself to the
 * one outside it. The walker reads that chain in the handler. Code objects give the lines when
 * they first run. Each activation counts as a call, also where a generator goes on.
 * SPDX-License-Identifier: MIT
 */
#define Py_BUILD_CORE_MODULE 1 /* PEP 523's frames are in this internal header */
#include <Python.h>
#include <internal/pycore_frame.h>
#include <jsprof.h>

struct activation {
    struct activation *up;
    const _PyInterpreterFrame *frame;
    const jsprof_function *function;
};
/* Each thread that runs Python has a chain of its own. Only one thread attaches here. */
static _Thread_local struct activation *volatile innermost;
static _Thread_local jsprof_thread *me; /* NULL in the others */
static jsprof_function *collector;
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

static void free_function(void *function) { jsprof_function_free(function); }
static jsprof_function *function_of(PyCodeObject *code)
{
    void *found = NULL;
    if (_PyCode_GetExtra((PyObject *)code, slot, &found) == 0 && found)
        return found;
    const char *name = PyUnicode_AsUTF8(code->co_qualname);
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    jsprof_function *made = NULL;
    if (!name || !file || jsprof_function_new(&made, name, file, (uint32_t)code->co_firstlineno,
                                              JSPROF_KIND_VM) < 0)
        return PyErr_Clear(), NULL;
    set_lines(made, code);
    _PyCode_SetExtra((PyObject *)code, slot, made);
    return made;
}

static PyObject *evaluate(PyThreadState *state, _PyInterpreterFrame *frame, int throws)
{
    struct activation mine = { innermost, frame, function_of(frame->f_code) };
    __atomic_signal_fence(__ATOMIC_RELEASE); /* the handler of this thread reads it whole */
    innermost = &mine;
    jsprof_call_enter(me, mine.function, &mine);
    PyObject *result = _PyEval_EvalFrameDefault(state, frame, throws);
    jsprof_call_leave(me, &mine);
    innermost = mine.up;
    return result;
}

/* Called before and after a collection, which is a frame inside the innermost activation. */
static PyObject *on_collection(PyObject *self, PyObject *words)
{
    const char *phase = PyUnicode_AsUTF8(PyTuple_GetItem(words, 0));
    if (phase && !strcmp(phase, "start"))
        jsprof_enter_at(me, collector, innermost ? (uintptr_t)innermost - 1 : 0);
    else if (me && me->depth)
        jsprof_leave(me);
    return Py_NewRef(self);
}

/* Called in the handler: it reads memory, and nothing else. */
static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    uint32_t n = 0;
    (void)host, (void)ucontext;
    for (const struct activation *a = innermost; a && n < max; a = a->up)
        if (a->function) {
            uint64_t pc = (uint64_t)(a->frame->prev_instr - _PyCode_CODE(a->frame->f_code)) + 1;
            out[n++] = (jsprof_frame){ .function = a->function, .sp = (uintptr_t)a, .pc = pc };
        }
    return n;
}

int main(int argc, char **argv)
{
    static PyMethodDef collection = { "collection", on_collection, METH_VARARGS, NULL };
    jsprof *prof;
    FILE *program = argc > 1 ? fopen(argv[1], "r") : NULL;
    if (!program)
        return perror("python"), 2;
    Py_Initialize();
    slot = _PyEval_RequestCodeExtraIndex(free_function);
    int err = jsprof_start_from_env(&prof);
    if (err > 0 && !(err = jsprof_thread_attach(prof, "main", &me)) &&
        !(err = jsprof_function_new(&collector, "[collect]", NULL, 0, JSPROF_KIND_GC)))
        err = jsprof_thread_set_walker(me, walk, NULL);
    if (err < 0)
        return fprintf(stderr, "python: %s\n", jsprof_strerror(err)), 1;
    if (me) {
        _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluate);
        PyList_Append(PyObject_GetAttrString(PyImport_ImportModule("gc"), "callbacks"),
                      PyCFunction_New(&collection, Py_None));
    }
    int failed = PyRun_SimpleFile(program, argv[1]);
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), _PyEval_EvalFrameDefault);
    me = NULL; /* jsprof_close ends it, and collections follow */
    jsprof_close(prof);
    return fclose(program), Py_FinalizeEx() < 0 || failed;
}
