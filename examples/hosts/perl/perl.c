/* perl.c - Perl 5 as a host of jsprof, without a change to it: its calls are entries of context
 * stacks. Each level of a sort, a tie or an overloaded operator has a stack of its own.
 *
 *     JSPROF=OUT.cap [JSPROF_CALLS=all] ./perl PROGRAM.pl
 *
 * Perl may be moving a stack when the walker runs: it copies with jsprof_read, and names a sub
 * only if the table has its code. Operations that enter and leave subs fill it and count.
 * SPDX-License-Identifier: MIT
 */
#define PERL_NO_GET_CONTEXT
#include <EXTERN.h>
#include <perl.h>
#include <jsprof.h>

enum { SUBS = 1 << 14 };
static struct sub { const OP *volatile code; jsprof_function *function; } subs[SUBS];
static size_t n_subs;
/* a context: its address changes when Perl moves the stack, this does not */
#define KEY(si, ix) ((const void *)(((uintptr_t)(si) << 16) + (uintptr_t)(ix) + 1))
#define IS_CALL(cx) (CxTYPE(cx) == CXt_SUB && !CxMULTICALL(cx)) /* not that of a sort */
static jsprof_thread *me;
static Perl_ppaddr_t enter_op, leave_ops[MAXO];

/* Return the place of code, or the free one where it belongs. */
static struct sub *find(const OP *code)
{
    size_t at = (uintptr_t)code / 8 % SUBS;
    while (subs[at].code && subs[at].code != code)
        at = (at + 1) % SUBS;
    return &subs[at];
}

/* Name the code of a sub when it runs for the first time. Closures share their code. */
static jsprof_function *function_of(pTHX_ CV *cv)
{
    OP *code = CvSTART(cv);
    struct sub *sub = find(code);
    if (sub->code || !code || n_subs > SUBS / 2)
        return sub->function;
    jsprof_function_new(&sub->function, GvNAME(CvGV(cv)), CvFILE(cv),
                        code->op_type == OP_NEXTSTATE ? CopLINE((COP *)code) : 0, 0);
    OpREFCNT_inc(CvROOT(cv)); /* keep the code: no other sub ever has its address */
    __atomic_signal_fence(__ATOMIC_RELEASE); /* the handler of this thread sees it whole */
    sub->code = code;
    n_subs++;
    return sub->function;
}

static OP *enter_sub(pTHX)
{
    const PERL_SI *now = PL_curstackinfo, *si = now;
    I32 before = cxstack_ix, ix = before;
    OP *next = enter_op(aTHX);
    if (PL_curstackinfo != now || cxstack_ix <= before || !IS_CALL(CX_CUR()))
        return next; /* C code, which has run as a whole */
    while (si && (ix < 0 || !IS_CALL(&si->si_cxstack[ix]))) /* find the caller */
        if (--ix < 0 && (si = si->si_prev))
            ix = si->si_cxix;
    jsprof_call_unwind_to(me, si ? KEY(si, ix) : NULL); /* die leaves no trace of its own */
    jsprof_call_enter(me, function_of(aTHX_ CX_CUR()->blk_sub.cv), KEY(now, cxstack_ix));
    return next;
}

static OP *leave_sub(pTHX)
{
    I32 ix = PL_curstackinfo->si_cxsubix;
    if (ix >= 0 && IS_CALL(&cxstack[ix]))
        jsprof_call_leave_through(me, KEY(PL_curstackinfo, ix));
    return leave_ops[PL_op->op_type](aTHX);
}

/* Called in the handler. */
static uint32_t walk(void *host, const void *ucontext, jsprof_frame *out, uint32_t max)
{
    dTHXa(host);
    const COP *at = PL_curcop;
    PERL_SI si;
    PERL_CONTEXT cx;
    COP cop;
    CV cv;
    OP *code;
    uint32_t n = 0;
    (void)ucontext;
    for (PERL_SI *s = PL_curstackinfo; s && jsprof_read(me, &si, s, sizeof si); s = si.si_prev)
        for (I32 ix = si.si_cxix; ix >= 0 && n < max; ix--)
            if (jsprof_read(me, &cx, &si.si_cxstack[ix], sizeof cx) && CxTYPE(&cx) == CXt_SUB) {
                bool has = jsprof_read(me, &cv, cx.blk_sub.cv, sizeof cv) &&
                           jsprof_read(me, &code, &CvSTART(&cv), sizeof code);
                out[n] = (jsprof_frame){ .label = "[sub]" };
                out[n].line = at && jsprof_read(me, &cop, at, sizeof cop) ? CopLINE(&cop) : 0;
                out[n].function = has ? find(code)->function : NULL;
                out[n++].kind = cx.blk_sub.retop ? 0 : JSPROF_FRAME_ENTRY; /* C code calls it */
                at = cx.blk_oldcop;
            }
    return n;
}

int main(int argc, char **argv, char **env)
{
    jsprof *prof;
    PERL_SYS_INIT3(&argc, &argv, &env);
    PerlInterpreter *my_perl = perl_alloc();
    perl_construct(my_perl);
    enter_op = PL_ppaddr[OP_ENTERSUB];
    PL_ppaddr[OP_ENTERSUB] = enter_sub;
    for (const int *op = (int[]){ OP_LEAVESUB, OP_LEAVESUBLV, OP_RETURN, 0 }; *op; op++) {
        leave_ops[*op] = PL_ppaddr[*op];
        PL_ppaddr[*op] = leave_sub;
    }
    int err = perl_parse(my_perl, NULL, argc, argv, NULL) ? -EINVAL : jsprof_start_from_env(&prof);
    if (err > 0 && !(err = jsprof_thread_attach(prof, "main", &me)) &&
        !(err = jsprof_interpreter_add(prof, (void *)Perl_runops_standard, 0)))
        err = jsprof_thread_set_walker(me, walk, my_perl);
    if (err < 0)
        return fprintf(stderr, "perl: %s\n", jsprof_strerror(err)), 1;
    jsprof_call_enter(me, NULL, NULL); /* the main program */
    int failed = perl_run(my_perl);
    jsprof_close(prof);
    return perl_destruct(my_perl) || failed;
}
