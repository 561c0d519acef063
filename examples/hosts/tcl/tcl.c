/* tcl.c - Tcl 8.6 as a host of jsprof, without a change to it: frames of procedures are linked.
 *
 *     JSPROF=OUT.cap [JSPROF_CALLS=all] ./tcl PROGRAM.tcl
 *
 * Tcl links whole frames and unlinks them before they change, so the walker reads plainly. Traces
 * on `proc` and on each procedure name and count. Tcl notes its place when it calls a command,
 * and not in what it compiled to bytecode (set, incr, if): the innermost frame then has no line.
 *
 * SPDX-License-Identifier: MIT
 */
#include <tclCompile.h>
#include <jsprof.h>

static struct proc { const Proc *volatile proc; jsprof_function *function; uint32_t line; }
    procs[1000], *const last = &procs[999]; /* that one stays free */
static jsprof_thread *me;

static struct proc *find(const Proc *proc)
{
    struct proc *at = procs; /* the first free one, if it has none */
    while (at->proc && at->proc != proc)
        at++;
    return at;
}

/* Called as `jsprof_defined {proc NAME ARGUMENTS BODY} CODE RESULT leave`. */
static int defined(void *data, Tcl_Interp *interp, int n, Tcl_Obj *const words[])
{
    Tcl_Obj *word = NULL;
    Tcl_ListObjIndex(interp, words[n - 4], 1, &word);
    const char *name = word ? Tcl_GetString(word) : "";
    Proc *proc = TclFindProc(data, name);
    struct proc *entry = find(proc);
    if (!proc || entry == last)
        return TCL_OK;
    Tcl_HashEntry *place = Tcl_FindHashEntry(((Interp *)data)->linePBodyPtr, (char *)proc);
    const CmdFrame *body = place ? Tcl_GetHashValue(place) : NULL;
    const char *file = body ? Tcl_GetString(body->data.eval.path) : NULL;
    entry->line = body ? (uint32_t)body->line[0] : 0;
    jsprof_function_new(&entry->function, name, file, entry->line, JSPROF_KIND_VM);
    proc->refCount += !entry->proc; /* keep it: no lambda or method ever has its address */
    __atomic_signal_fence(__ATOMIC_RELEASE); /* the handler of this thread sees it whole */
    entry->proc = proc;
    Tcl_Obj *trace = Tcl_ObjPrintf("trace add execution NAME {enter leave} {jsprof_count %d}",
                                   (int)(entry - procs));
    Tcl_ListObjReplace(interp, trace, 3, 1, 1, &word); /* quotes it */
    return me && jsprof_counting(me) ? Tcl_EvalObjEx(interp, trace, 0) : TCL_OK;
}

/* Called as `jsprof_count ENTRY COMMAND [CODE RESULT] enter|leave`, in the frame of the caller. */
static int count(void *data, Tcl_Interp *interp, int n, Tcl_Obj *const words[])
{
    int entry = 0;
    const CallFrame *caller = ((Interp *)data)->framePtr;
    Tcl_GetIntFromObj(interp, words[1], &entry);
    n == 4 ? jsprof_call_enter(me, procs[entry].function, caller)
           : jsprof_call_leave_through(me, caller);
    return TCL_OK;
}

/* Read a number of the tables that lead from bytecode to its source. */
static int number(const unsigned char **at)
{
    return **at == 0xFF ? (*at += 5, TclGetInt4AtPtr(*at - 4)) : (signed char)*(*at)++;
}

static uint32_t line_of(const CmdFrame *at, const Proc *proc, uint32_t line)
{
    const ByteCode *code = at->data.tebc.codePtr;
    if (at->type != TCL_LOCATION_BC || code->procPtr != proc || !line)
        return 0;
    const unsigned char *start = code->codeDeltaStart, *length = code->codeLengthStart;
    const unsigned char *source = code->srcDeltaStart;
    const char *text = code->source, *found = text;
    long pc = at->data.tebc.pc - (const char *)code->codeStart, from = 0;
    for (int i = 0; i < code->numCommands && (from += number(&start)) <= pc; i++) {
        text += number(&source);
        found = pc < from + number(&length) ? text : found;
    }
    while (found > code->source)
        line += *--found == '\n';
    return line;
}

/* Called in the handler. */
static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    const Interp *interp = host;
    const CmdFrame *at = interp->cmdFramePtr;
    uint32_t n = 0;
    (void)ucontext;
    for (const CallFrame *f = interp->framePtr; f && n < max; f = f->callerPtr) {
        if (f->procPtr) {
            const struct proc *in = find(f->procPtr);
            out[n] = (jsprof_frame){ .function = in->function, .label = "[proc]" };
            out[n++].line = at && at->framePtr == f ? line_of(at, in->proc, in->line) : 0;
        }
        while (at && at->framePtr == f)
            at = at->nextPtr;
    }
    return n;
}

int main(int argc, char **argv)
{
    jsprof *prof;
    Tcl_Interp *interp = (Tcl_FindExecutable(argv[0]), Tcl_CreateInterp());
    int err = jsprof_start_from_env(&prof);
    if (err > 0 && !(err = jsprof_thread_attach(prof, "main", &me)))
        err = jsprof_thread_set_walker(me, walk, interp);
    if (argc != 2 || err < 0)
        return fprintf(stderr, "tcl PROGRAM.tcl: %s\n", jsprof_strerror(err)), 1;
    Tcl_CreateObjCommand(interp, "jsprof_defined", defined, interp, NULL);
    Tcl_CreateObjCommand(interp, "jsprof_count", count, interp, NULL);
    Tcl_Eval(interp, "trace add execution proc leave jsprof_defined");
    if ((err = Tcl_EvalFile(interp, argv[1])))
        fprintf(stderr, "tcl: %s\n", Tcl_GetStringResult(interp));
    jsprof_close(prof);
    return err;
}
