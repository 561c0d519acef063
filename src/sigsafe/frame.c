/* sigsafe/frame.c - see frame.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "frame.h"

#include "insn.h"

enum {
    /* bytes before pc (prologue) and after it (epilogue) that are read */
    FRAME_BEFORE = 32,
    FRAME_AFTER = 48,
    FRAME_PAGE = 4096,
};

/* The instructions around the interrupted one. */
struct frame_look {
    struct jsp_memread *mem;
    uint8_t bytes[FRAME_BEFORE + FRAME_AFTER];
    uint32_t n, at;    /* number of these bytes before the interrupted instruction */
    bool is_from_start, is_registered;
};

/* Read the bytes around pc. For unregistered code read only the page of pc, which is
 * certainly mapped. */
static bool frame_look(struct frame_look *look, const struct jsp_frame_code *code,
                       uintptr_t pc)
{
    uintptr_t page = pc & ~(uintptr_t)(FRAME_PAGE - 1);
    uintptr_t low = code->end ? code->start : page;
    uintptr_t high = code->end ? code->end : page + FRAME_PAGE;
    uintptr_t from = pc - low > FRAME_BEFORE ? pc - FRAME_BEFORE : low;
    uintptr_t to = high - pc > FRAME_AFTER ? pc + FRAME_AFTER : high;
    look->n = (uint32_t)(to - from);
    look->at = (uint32_t)(pc - from);
    look->is_registered = code->end;
    look->is_from_start = code->end && from == code->start;
    return jsp_memread_bytes(look->mem, from, look->bytes, look->n);
}

static bool frame_insn(const struct frame_look *look, uint32_t at, struct jsp_insn *insn)
{
    return at < look->n && jsp_insn_read(look->bytes + at, look->n - at, insn);
}

/* -- The end of a function ---------------------------------------------------- */

static bool frame_run(struct frame_look *look, const struct jsp_insn *insn,
                      struct jsp_regs_core *r)
{
    uint64_t fp = r->fp, extra = r->extra;
    r->sp = (insn->from_fp ? r->fp : r->sp) + (uintptr_t)(intptr_t)insn->before;
    if (insn->loads_fp &&
        !jsp_memread_word(look->mem, r->sp + (uintptr_t)(intptr_t)insn->fp_at, &fp))
        return false;
    if (insn->loads_extra &&
        !jsp_memread_word(look->mem, r->sp + (uintptr_t)(intptr_t)insn->extra_at, &extra))
        return false;
    r->fp = fp;
    r->extra = extra;
    r->sp += (uintptr_t)(intptr_t)insn->after;
    return true;
}

/* Return from the function. *r is as it was when the function was called. */
static bool frame_return(struct frame_look *look, struct jsp_regs_core *r)
{
    uint64_t ra = r->extra;
    if (!JSP_RA_IN_EXTRA) {
        if (!jsp_memread_word(look->mem, r->sp, &ra))
            return false;
        r->sp += sizeof ra;
    }
    r->pc = ra;
    return true;
}

/* Interpret instructions up to the return, at most FRAME_AFTER turns. A jump counts as a
 * return if the frame was removed before it; otherwise it may lead anywhere in the
 * function. */
static bool frame_is_leaving(struct frame_look *look, struct jsp_regs_core *r)
{
    struct jsp_insn insn;
    bool is_down = false;
    for (uint32_t at = look->at; frame_insn(look, at, &insn) && !insn.builds;
         at += insn.length) {
        if (insn.returns || (insn.jumps && is_down))
            return frame_return(look, r);
        if (insn.jumps || !frame_run(look, &insn, r))
            return false;
        is_down = is_down || insn.loads_fp;
    }
    return false;
}

/* -- The beginning of a function ---------------------------------------------- */

/* Store in *by how far the instructions from `at` up to the interrupted one have moved
 * the stack pointer. Return false if they are no prologue or the frame is already
 * complete. */
static bool frame_built(const struct frame_look *look, uint32_t at, int32_t *by)
{
    struct jsp_insn insn;
    *by = 0;
    while (at < look->at) { /* at most FRAME_BEFORE turns */
        if (!frame_insn(look, at, &insn) || insn.sets_fp || insn.after || insn.loads_fp ||
            insn.loads_extra || insn.from_fp || insn.returns || insn.jumps)
            return false;
        *by += insn.before;
        at += insn.length;
    }
    return at == look->at;
}

/* Return true if this instruction saves the frame pointer and the next one sets it. */
static bool frame_begins(const struct frame_look *look, uint32_t at)
{
    struct jsp_insn save, set;
    return frame_insn(look, at, &save) && save.saves_fp &&
           frame_insn(look, at + save.length, &set) && set.sets_fp;
}

static bool frame_moved(const struct frame_look *look, int32_t *by)
{
    uint32_t save = look->at - JSP_INSN_SAVE_BYTES; /* wraps around if there is no room */
    if (!look->is_registered && jsp_insn_in_stub(look->bytes, look->n, look->at, by))
        return true;
    if (look->is_from_start && frame_built(look, 0, by))
        return true;
    if (frame_begins(look, save))
        return frame_built(look, save, by);
    *by = 0;
    return frame_begins(look, look->at);
}

static bool frame_is_entering(struct frame_look *look, struct jsp_regs_core *r)
{
    int32_t by;
    if (!frame_moved(look, &by))
        return false;
    r->sp -= (uintptr_t)(intptr_t)by;
    if (!frame_return(look, r))
        return false;
    /* Some code is entered without a call; check that the return address follows a
     * call. */
    uint8_t before[JSP_INSN_CALL_BYTES];
    uintptr_t ra = jsp_regs_strip(r->pc);
    return jsp_memread_bytes(look->mem, ra - sizeof before, before, sizeof before) &&
           jsp_insn_is_call(before);
}

bool jsp_frame_leave(struct jsp_memread *mem, const struct jsp_frame_code *code,
                     const struct jsp_regs_core *at, struct jsp_regs_core *to)
{
    struct frame_look look = { .mem = mem };
    if (!frame_look(&look, code, at->pc))
        return false;
    *to = *at;
    if (frame_is_leaving(&look, to))
        return true;
    *to = *at;
    return frame_is_entering(&look, to);
}
