/* sigsafe/backtrace.c - see backtrace.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backtrace.h"
#include "left.h"
#include "merge.h"

enum { BACKTRACE_LINE = 64 };

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

/* Write all of one piece. Each piece is a write of its own, because a signal-safe
 * function has no buffer to spare. */
static int backtrace_write(int fd, const char *text, size_t n)
{
    while (n) {
        ssize_t done = write(fd, text, n);
        if (done < 0 && errno != EINTR)
            return -errno;
        if (done > 0) {
            text += done;
            n -= (size_t)done;
        }
    }
    return 0;
}

/* Write the digits so that they end at `end`. Return where they begin. */
static char *backtrace_digits(char *end, uint64_t value, uint32_t base)
{
    do
        *--end = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    return end;
}

/* Write "#12 name" or "#12 0x7f...", then ":line" if the line is known. */
static int backtrace_line(int fd, uint32_t at, const jsprof_backtrace_frame *frame)
{
    char text[BACKTRACE_LINE], *end = text + sizeof text, *begin;

    *--end = ' ';
    begin = backtrace_digits(end, at, 10);
    *--begin = '#';
    int err = backtrace_write(fd, begin, (size_t)(end + 1 - begin));
    if (!err && frame->name) {
        err = backtrace_write(fd, frame->name, strnlen(frame->name, JSP_LABEL_MAX));
    } else if (!err) {
        begin = backtrace_digits(end, frame->pc, 16);
        *--begin = 'x';
        *--begin = '0';
        err = backtrace_write(fd, begin, (size_t)(end - begin));
    }
    if (!err && frame->line) {
        begin = backtrace_digits(end, frame->line, 10);
        *--begin = ':';
        err = backtrace_write(fd, begin, (size_t)(end - begin));
    }
    return err ? err : backtrace_write(fd, "\n", 1);
}

int jsp_backtrace_print(struct jsp_sampled *self, const struct jsp_backtrace_from *from, int fd)
{
    int n = jsp_backtrace(self, from, self->printed, JSP_PRINTED);
    int err = n < 0 ? n : 0;
    for (int i = 0; i < n && !err; i++)
        err = backtrace_line(fd, (uint32_t)i, &self->printed[i]);
    return err;
}
