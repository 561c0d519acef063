/* mruby.c - mruby 3 as a host of jsprof, without a change to it: its frames are an array with an
 * end pointer, one for each fiber, and the header mruby.h shows both.
 *
 *     ./mruby PROGRAM.rb OUT.cap
 *
 * The handler may come between two stores of mruby, so the callback copies with jsprof_read, and
 * trusts a body of code only if the program has it. Debian's mruby has no hook for calls or for
 * the collector, so nothing can count calls, and a collection shows as C functions.
 *
 * SPDX-License-Identifier: MIT
 */
#include <jsprof.h>
#include <mruby.h>
#include <mruby/compile.h>
#include <mruby/irep.h>
#include <mruby/proc.h>
#include <mruby/debug.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096, DEEPEST = 1024 /* mruby stops calls at 512 */ };
struct known { uintptr_t key; const char *text; uint32_t line; };
static struct known known[MOST]; /* names by SYMBOL, and bodies by mrb_irep */
static size_t n_known;
#define SYMBOL(symbol) ((uintptr_t)(symbol) << 1 | 1)
static jsprof_thread *me;

static int compare(const void *a, const void *b)
{
    uintptr_t x = ((const struct known *)a)->key, y = ((const struct known *)b)->key;
    return (x > y) - (x < y);
}

static const struct known *find(uintptr_t key)
{
    return bsearch(&key, known, n_known, sizeof *known, compare);
}

static void note(uintptr_t key, const char *text, int32_t line)
{
    if (n_known < MOST)
        known[n_known++] = (struct known){ key, text, (uint32_t)line };
}

/* Note names and bodies when the program is loaded: the handler only looks. */
static void note_all(mrb_state *mrb, const mrb_irep *irep)
{
    for (int i = 0; i < irep->slen; i++)
        note(SYMBOL(irep->syms[i]), strdup(mrb_sym_name(mrb, irep->syms[i])), 0);
    note((uintptr_t)irep, mrb_debug_get_filename(mrb, irep, 0), mrb_debug_get_line(mrb, irep, 0));
    for (int i = 0; i < irep->rlen; i++)
        note_all(mrb, irep->reps[i]);
}

/* Called in the handler, for each entry of mruby's array. */
static int decode(void *host, const void *entry, jsprof_frame *out)
{
    mrb_state *mrb = host;
    mrb_callinfo ci;
    struct RProc proc = { .flags = MRB_PROC_CFUNC_FL }; /* without a proc it is a C function */
    if (mrb->c->ci - mrb->c->cibase > DEEPEST) /* mruby has moved only one of the two so far */
        return -1;
    if (!jsprof_read(me, &ci, entry, sizeof ci) ||
        (ci.proc && !jsprof_read(me, &proc, ci.proc, sizeof proc)))
        return -1;
    const mrb_irep *irep = proc.body.irep;
    const struct known *name = find(SYMBOL(ci.mid)), *body = find((uintptr_t)irep);
    out->label = name ? name->text : "[method]";
    out->kind = MRB_PROC_CFUNC_P(&proc) ? JSPROF_KIND_NATIVE : JSPROF_KIND_VM;
    if (MRB_PROC_CFUNC_P(&proc) || !body)
        return 1;
    if (!MRB_PROC_SCOPE_P(&proc))
        out->label = proc.upper ? "[block]" : "[main]";
    out->detail = body->text;
    out->kind |= JSPROF_JOIN_PAREN | JSPROF_FRAME_DEFINED | (ci.cci ? JSPROF_FRAME_ENTRY : 0);
    out->pc = (uint64_t)body->line << 32;
    ptrdiff_t at = ci.pc - irep->iseq; /* after the instruction; old in a new frame */
    if (at > 0 && at <= (ptrdiff_t)irep->ilen)
        out->line = (uint32_t)mrb_debug_get_line(mrb, irep, (uint32_t)at - 1);
    return 1;
}

int main(int argc, char **argv)
{
    jsprof *prof;
    jsprof_options options = { .size = sizeof options, .path = argc > 2 ? argv[2] : NULL };
    FILE *program = argc > 2 ? fopen(argv[1], "r") : NULL;
    if (!program)
        return fprintf(stderr, "usage: mruby PROGRAM.rb OUT.cap\n"), 2;
    mrb_state *mrb = mrb_open();
    mrbc_context *context = mrbc_context_new(mrb);
    mrbc_filename(mrb, context, argv[1]);
    struct mrb_parser_state *parser = mrb_parse_file(mrb, program, context);
    struct RProc *code = parser->nerr ? NULL : mrb_generate_code(mrb, parser);
    if (!code)
        return 1;
    note_all(mrb, code->body.irep);
    qsort(known, n_known, sizeof *known, compare);
    jsprof_stack stack = {
        .size = sizeof stack, .stride = sizeof(mrb_callinfo), .decode_sigsafe = decode,
        .host = mrb, .context = &mrb->c, .end_at = offsetof(struct mrb_context, ci),
        .end_is_last = 1, .entries_at = offsetof(struct mrb_context, cibase),
        .resumer_at = offsetof(struct mrb_context, prev), .depth_at = JSPROF_NO_FIELD,
        .capacity_at = JSPROF_NO_FIELD,
    };
    int err = jsprof_open(&prof, &options);
    if (!err && !(err = jsprof_thread_attach(prof, "main", &me)) &&
        !(err = jsprof_thread_set_stack(me, &stack)) &&
        !(err = jsprof_interpreter_add(prof, (void *)mrb_vm_exec, 0)))
        err = jsprof_start(prof);
    if (err)
        return fprintf(stderr, "mruby: %s\n", jsprof_strerror(err)), 1;
    mrb_top_run(mrb, code, mrb_top_self(mrb), 0);
    if (mrb->exc)
        mrb_print_error(mrb);
    jsprof_close(prof);
    return mrb->exc != NULL;
}
