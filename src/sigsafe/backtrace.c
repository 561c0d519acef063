/* sigsafe/backtrace.c - see backtrace.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backtrace.h"

#include "base/utf8.h"
#include "left.h"
#include "merge.h"
#include "text.h"

/* Describe a merged frame to a caller that has no capture to look into. */
static jsprof_backtrace_frame backtrace_frame(const struct jsp_sampled *self,
                                              const struct jsp_merged *frame)
{
    jsprof_backtrace_frame to = { NULL, frame->ip, frame->line, JSPROF_KIND_NATIVE };
    uint32_t id = frame->id;
    struct jsp_jitrows *jit = self->unwinder.jit;
    if (frame->native && !(jit && jsp_jitrows_label(jit, frame->ip - !frame->leaf, &id)))
        return to;
    const struct jsp_label *label = jsp_arena_label(self->names.arena, id);
    to.name = label->text;
    to.kind = label->kind;
    return to;
}

static bool backtrace_has_stack(const struct jsp_sampled *self,
                                const struct jsp_backtrace_from *from)
{
    const ucontext_t *uc = from->ucontext;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return jsp_stack_left(self, uc ? &uc->uc_stack : &from->alt, here, here) >=
           jsp_stack_need(self);
}

static __attribute__((noinline)) void backtrace_take(struct jsp_sampled *self,
                                                     const struct jsp_backtrace_from *from,
                                                     bool is_paused)
{
    const ucontext_t *uc = from->ucontext;
    struct jsp_where where = { uc, uc ? jsp_regs_sp(uc) : from->here.sp,
                               uc ? &uc->uc_stack : &from->alt, is_paused };
    jsp_sampled_frames(self, &where, uc ? NULL : &from->here);
}

/* Without a ucontext the innermost native frame is jsprof_backtrace itself, so drop
 * it. */
static int backtrace_copy(struct jsp_sampled *self, const struct jsp_backtrace_from *from,
                          jsprof_backtrace_frame *out, uint32_t max)
{
    static const struct jsp_loops none; /* only the drain knows the loops */
    uint32_t n = jsp_merge(self->record, &none, self->merged), to = 0;
    for (uint32_t i = 0; i < n && to < max; i++)
        if ((from->ucontext || !self->merged[i].leaf) &&
            self->merged[i].ip != JSP_NATIVE_WALKED)
            out[to++] = backtrace_frame(self, &self->merged[i]);
    return (int)to;
}

int jsp_backtrace(struct jsp_sampled *self, const struct jsp_backtrace_from *from,
                  jsprof_backtrace_frame *out, uint32_t max)
{
    int n = -EINVAL;
    bool is_paused = self->paused;
    if (!backtrace_has_stack(self, from))
        return -EOVERFLOW;
    if (!jsp_sampled_enter(self))
        return -EBUSY;
    /* B1. ORDER: seq_cst, with `busy` set before it in jsp_sampled_enter: a thread that
     * sets `closed` and then sees `busy` clear knows that nobody reads the session any
     * more. */
    if (!atomic_load_explicit(&self->closed, memory_order_seq_cst)) {
        backtrace_take(self, from, is_paused);
        n = backtrace_copy(self, from, out, max);
    }
    jsp_sampled_exit(self);
    return n;
}

/* -- As text ---------------------------------------------------------------- */

/* Write "#12 name" or "#12 0x7f...", then ":line" if the line is known. */
static void backtrace_line(struct jsp_text *text, uint32_t at,
                           const jsprof_backtrace_frame *frame)
{
    JSP_TEXT_PUT(text, "#");
    jsp_text_number(text, at, 10);
    JSP_TEXT_PUT(text, " ");
    if (frame->name)
        jsp_text_put(text, frame->name, strnlen(frame->name, JSP_LABEL_MAX));
    else
        jsp_text_address(text, frame->pc);
    if (frame->line) {
        JSP_TEXT_PUT(text, ":");
        jsp_text_number(text, frame->line, 10);
    }
    JSP_TEXT_PUT(text, "\n");
    jsp_text_flush(text);
}

int jsp_backtrace_print(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd)
{
    struct jsp_text text = { .fd = fd };
    int n = jsp_backtrace(self, from, self->printed, JSP_PRINTED);
    for (int i = 0; i < n && !text.err; i++)
        backtrace_line(&text, (uint32_t)i, &self->printed[i]);
    return n < 0 ? n : text.err;
}

/* -- As JSON ---------------------------------------------------------------- */

/* Write a name as a JSON string, which is UTF-8 whatever the name's bytes are. */
static void backtrace_put_string(struct jsp_text *text, const char *name)
{
    size_t n = strnlen(name, JSP_LABEL_MAX), used;
    JSP_TEXT_PUT(text, "\"");
    for (size_t i = 0; i < n; i += used) {
        const char *at = name + i;
        uint32_t c = jsp_utf8_next((const unsigned char *)at, n - i, &used);
        if (c == JSP_UTF8_REPLACEMENT) {
            JSP_TEXT_PUT(text, "\\ufffd");
        } else if (c < 0x20 || c == '"' || c == '\\') {
            JSP_TEXT_PUT(text, "\\u00");
            jsp_text_number(text, c >> 4, 16);
            jsp_text_number(text, c & 15, 16);
        } else {
            jsp_text_put(text, at, used);
        }
    }
    JSP_TEXT_PUT(text, "\"");
}

static void backtrace_put_kind(struct jsp_text *text, uint32_t kind)
{
    static const char names[][8] = { "vm", "jit", "label", "gc", "native", "synth" };
    if (kind < sizeof names / sizeof *names)
        jsp_text_put(text, names[kind], strnlen(names[kind], sizeof *names));
}

static void backtrace_object(struct jsp_text *text, const jsprof_backtrace_frame *frame)
{
    JSP_TEXT_PUT(text, "{\"kind\":\"");
    backtrace_put_kind(text, frame->kind);
    JSP_TEXT_PUT(text, "\"");
    if (frame->name) {
        JSP_TEXT_PUT(text, ",\"name\":");
        backtrace_put_string(text, frame->name);
    }
    if (frame->line) {
        JSP_TEXT_PUT(text, ",\"line\":");
        jsp_text_number(text, frame->line, 10);
    }
    if (frame->pc) {
        JSP_TEXT_PUT(text, ",\"pc\":\"");
        jsp_text_address(text, frame->pc);
        JSP_TEXT_PUT(text, "\"");
    }
    JSP_TEXT_PUT(text, "}");
}

int jsp_backtrace_json(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd)
{
    struct jsp_text text = { .fd = fd };
    int n = jsp_backtrace(self, from, self->printed, JSP_PRINTED);
    if (n < 0)
        return n;
    JSP_TEXT_PUT(&text, "{\"thread\":");
    jsp_text_number(&text, (uint64_t)syscall(SYS_gettid), 10);
    JSP_TEXT_PUT(&text, ",\"frames\":[");
    for (int i = 0; i < n; i++) {
        if (i)
            JSP_TEXT_PUT(&text, ",");
        backtrace_object(&text, &self->printed[i]);
    }
    JSP_TEXT_PUT(&text, "]}\n");
    jsp_text_flush(&text);
    return text.err;
}
