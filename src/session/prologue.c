/* session/prologue.c - see prologue.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "prologue.h"

#include "sigsafe/insn.h"

enum {
    PROLOGUE_FAR = 8192,  /* bytes of a function before its call */
    PROLOGUE_BYTES = 128, /* of a prologue */
    PROLOGUE_NEAR = 64,   /* of them, from saving the frame pointer to setting it */
    PROLOGUE_PAGE = 4096,
    PROLOGUE_MOST = 1 << 20, /* bytes of a frame */
    PROLOGUE_USUAL = 2, /* words of a frame above its frame pointer */
    PROLOGUE_PUSHED = 16, /* words that a call pushes: arguments, and what aligns them */
};

struct prologue {
    uint8_t code[PROLOGUE_FAR];
    uint32_t n; /* the last bytes before pc, at the end of `code` */
};

/* Copy the code before pc, as far as it can be read. */
static const uint8_t *prologue_read(struct prologue *p, struct jsp_memread *mem, uintptr_t pc)
{
    uintptr_t n = PROLOGUE_FAR;
    while (n >= PROLOGUE_BYTES && !jsp_memread_bytes(mem, pc - n, p->code, n))
        n = n > PROLOGUE_PAGE ? PROLOGUE_PAGE : n / 2;
    p->n = n >= PROLOGUE_BYTES ? (uint32_t)n : 0;
    return p->code;
}

/* Return true if an instruction shortly before `at` saves the caller's frame pointer. Compilers
 * put others between the two. */
static bool prologue_saves(const uint8_t *begin, const uint8_t *at)
{
    struct jsp_insn save;
    for (const uint8_t *from = at; from > begin && at - from < PROLOGUE_NEAR;)
        if (from--, jsp_insn_read(from, (size_t)(at - from), &save) && save.saves_fp)
            return true;
    return false;
}

/* Return where the last prologue has set the frame pointer, or NULL. */
static const uint8_t *prologue_find(const struct prologue *p)
{
    struct jsp_insn set;
    const uint8_t *end = p->code + p->n;
    for (uint32_t back = 1; back <= p->n; back++) {
        const uint8_t *at = end - back;
        if (jsp_insn_read(at, back, &set) && set.sets_fp && prologue_saves(p->code, at))
            return at + set.length;
    }
    return NULL;
}

/* Return the number that the prologue subtracts from the stack pointer after its pushes, or 0. */
static uint32_t prologue_room(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *last = end - at > PROLOGUE_BYTES ? at + PROLOGUE_BYTES : end;
    for (; at < last; at++) {
        struct jsp_insn insn;
        if (jsp_insn_read(at, (size_t)(last - at), &insn) && insn.builds && !insn.sets_fp &&
            !insn.saves_fp && insn.length > 2 && insn.before < 0)
            return (uint32_t)-insn.before;
    }
    return 0;
}

/* Return true if the return address of this frame, `cfa` words from its end, follows a call. */
static bool prologue_fits(struct jsp_memread *mem, uintptr_t fp, uint32_t cfa)
{
    uint8_t before[JSP_INSN_CALL_BYTES];
    uint64_t ra;
    return jsp_memread_word(mem, fp + 8 * (uintptr_t)cfa - 8, &ra) &&
           ra > sizeof before &&
           jsp_memread_bytes(mem, ra - sizeof before, before, sizeof before) &&
           jsp_insn_is_call(before);
}

/* Return true if the frame pointer that this frame has saved leads to a frame of the same kind, or
 * of the usual one. Only the two tests together find none by chance. */
static bool prologue_leads(struct jsp_memread *mem, uintptr_t fp, uint32_t how)
{
    uint64_t next;
    return jsp_memread_word(mem, fp + 8 * (uintptr_t)(jsp_how_cfa(how) - jsp_how_fp(how)), &next) &&
           next > fp && next - fp < PROLOGUE_MOST && next % 8 == 0 &&
           (prologue_fits(mem, next, jsp_how_cfa(how)) || prologue_fits(mem, next, PROLOGUE_USUAL));
}

bool jsp_prologue_fp(struct jsp_memread *mem, const struct jsp_prologue_at *at, uintptr_t *fp)
{
    struct prologue p;
    uint32_t saved = jsp_how_fp(at->how), extra = jsp_how_extra(at->how);
    uint32_t pushed = extra > saved ? extra : saved;
    if (JSP_RA_IN_EXTRA || jsp_how_kind(at->how) != JSP_HOW_FP || !saved)
        return false;
    const uint8_t *code = prologue_read(&p, mem, at->pc);
    const uint8_t *set = prologue_find(&p);
    uint32_t cfa = jsp_how_cfa(at->how), room = set ? prologue_room(set, code + p.n) : 0;
    uintptr_t bare = at->sp + 8 * (uintptr_t)pushed - 8 * (uintptr_t)cfa;
    *fp = bare + room;
    if (set && room < PROLOGUE_MOST && prologue_fits(mem, *fp, cfa))
        return true;
    *fp = bare;
    if (set && prologue_fits(mem, *fp, cfa))
        return true;
    for (uint32_t i = 1; i <= PROLOGUE_PUSHED && room < PROLOGUE_MOST; i++) {
        *fp = bare + room + 8 * (uintptr_t)i;
        if (prologue_fits(mem, *fp, cfa) && prologue_leads(mem, *fp, at->how))
            return true;
    }
    return false;
}
