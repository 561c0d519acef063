/* sigsafe/insn_x86_64.h - see insn.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_INSN_X86_64_H
#define JSP_SIGSAFE_INSN_X86_64_H

#include "insn.h"

/* The length of the longest call, and of the push that saves the frame pointer. */
enum { JSP_INSN_CALL_BYTES = 7, JSP_INSN_SAVE_BYTES = 1 };

struct insn_shape {
    uint8_t n, is[4]; /* the bytes that identify the instruction */
    uint8_t any;      /* the bits of the last byte that may differ */
    /* size of the operand after them, which is added to sp; negative: subtracted */
    int8_t number;
    struct jsp_insn does;
};

static const struct insn_shape insn_shapes[] = {
    { 4, { 0xF3, 0x0F, 0x1E, 0xFA }, 0, 0, { 0 } },                     /* endbr64 */
    { 1, { 0x90 }, 0, 0, { 0 } },                                       /* nop */
    { 2, { 0x66, 0x90 }, 0, 0, { 0 } },                                 /* the same */
    { 3, { 0xC5, 0xF8, 0x77 }, 0, 0, { 0 } },                           /* vzeroupper */
    { 1, { 0x55 }, 0, 0, { .saves_fp = true, .before = -8 } },          /* push %rbp */
    { 1, { 0x50 }, 7, 0, { .before = -8 } },                            /* push */
    { 2, { 0x41, 0x50 }, 7, 0, { .before = -8 } },                      /* push %r8.. */
    { 1, { 0x5D }, 0, 0, { .loads_fp = true, .after = 8 } },            /* pop %rbp */
    { 1, { 0x5B }, 0, 0, { .loads_extra = true, .after = 8 } },         /* pop %rbx */
    { 1, { 0x58 }, 3, 0, { .after = 8 } },                              /* pop */
    { 1, { 0x5E }, 1, 0, { .after = 8 } },                              /* pop */
    { 2, { 0x41, 0x58 }, 7, 0, { .after = 8 } },                        /* pop %r8.. */
    { 3, { 0x48, 0x89, 0xE5 }, 0, 0, { .builds = true, .sets_fp = true } },
    { 3, { 0x48, 0x8B, 0xEC }, 0, 0, { .builds = true, .sets_fp = true } },
    { 3, { 0x48, 0x83, 0xEC }, 0, -1, { .builds = true } },             /* sub n, %rsp */
    { 3, { 0x48, 0x81, 0xEC }, 0, -4, { .builds = true } },
    { 3, { 0x48, 0x83, 0xC4 }, 0, 1, { 0 } },                           /* add n, %rsp */
    { 3, { 0x48, 0x81, 0xC4 }, 0, 4, { 0 } },
    { 4, { 0x48, 0x8D, 0x64, 0x24 }, 0, 1, { 0 } },                     /* lea n(%rsp), %rsp */
    { 3, { 0x48, 0x8D, 0x65 }, 0, 1, { .from_fp = true } },             /* lea n(%rbp), %rsp */
    { 3, { 0x48, 0x8D, 0xA5 }, 0, 4, { .from_fp = true } },
    { 3, { 0x48, 0x89, 0xEC }, 0, 0, { .from_fp = true } },             /* mov %rbp, %rsp */
    { 3, { 0x48, 0x8B, 0xE5 }, 0, 0, { .from_fp = true } },
    { 1, { 0xC9 }, 0, 0, { .from_fp = true, .loads_fp = true, .after = 8 } }, /* leave */
    { 1, { 0xC3 }, 0, 0, { .returns = true } },
    { 2, { 0xF3, 0xC3 }, 0, 0, { .returns = true } },
    { 2, { 0xF2, 0xC3 }, 0, 0, { .returns = true } },
    { 1, { 0xE9 }, 0, 0, { .jumps = true } },                           /* jmp, in all forms */
    { 1, { 0xEB }, 0, 0, { .jumps = true } },
    { 2, { 0xFF, 0x20 }, 0x1F, 0, { .jumps = true } },
    { 2, { 0xFF, 0xE0 }, 7, 0, { .jumps = true } },
    { 3, { 0x41, 0xFF, 0xE0 }, 7, 0, { .jumps = true } },
};

/* Return true if the `n` bytes begin with an instruction of this shape. */
static inline bool insn_is(const struct insn_shape *s, const uint8_t *code, size_t n)
{
    uint32_t last = s->n - 1u;
    size_t number = (size_t)(s->number < 0 ? -s->number : s->number);
    return s->n + number <= n && memcmp(code, s->is, last) == 0 &&
           (code[last] & ~s->any) == s->is[last];
}

/* Read the number of `bytes` bytes (1 or 4) at this place. Below 0: return it negated. */
static inline int32_t insn_number(const uint8_t *at, int8_t bytes)
{
    int32_t value = (int8_t)*at;
    if (bytes == 4 || bytes == -4)
        memcpy(&value, at, sizeof value);
    return bytes < 0 ? (int32_t)(0u - (uint32_t)value) : value;
}

/* Read the first of `n` bytes of code as one instruction. Return false if it is none that a
 * prologue or epilogue has, or is cut short. */
static inline bool jsp_insn_read(const uint8_t *code, size_t n, struct jsp_insn *insn)
{
    for (size_t i = 0; i < sizeof insn_shapes / sizeof *insn_shapes; i++) {
        const struct insn_shape *s = &insn_shapes[i];
        if (!insn_is(s, code, n))
            continue;
        *insn = s->does;
        insn->length = (uint8_t)(s->n + (s->number < 0 ? -s->number : s->number));
        if (s->number)
            insn->before = insn_number(code + s->n, s->number);
        insn->builds = insn->builds || (insn->before < 0 && !insn->from_fp);
        return true;
    }
    return false;
}

/* Return true if the two bytes at `at` are `is`. */
static inline bool insn_at(const uint8_t *code, size_t n, size_t at, uint32_t is)
{
    return at < n && n - at >= 2 && code[at] == is >> 8 && code[at + 1] == (is & 0xFF);
}

/* A stub is jmp *n(%rip). The first stub of a kind has push $n; jmp after it, which leads
 * to push n(%rip); jmp *n(%rip). */
static inline bool jsp_insn_in_stub(const uint8_t *code, size_t n, size_t at, int32_t *by)
{
    enum { JUMP_FAR = 0xFF25, PUSH_FAR = 0xFF35, ENDBR64 = 0xF30F };
    size_t to = at + (insn_at(code, n, at, ENDBR64) ? 4 : 0);
    bool jumps = insn_at(code, n, to + (to < n && code[to] == 0xF2), JUMP_FAR);
    *by = 0;
    if (jumps) {
        *by = at >= 6 && insn_at(code, n, at - 6, PUSH_FAR) ? -16 : 0;
        return true;
    }
    if (insn_at(code, n, at, PUSH_FAR)) {
        *by = -8;
        return insn_at(code, n, at + 6, JUMP_FAR) || insn_at(code, n, at + 7, JUMP_FAR);
    }
    if (to < n && code[to] == 0x68) /* push $n */
        return to + 5 < n && (code[to + 5] == 0xE9 || code[to + 5] == 0xF2);
    *by = -8;
    return at >= 5 && at < n && code[at - 5] == 0x68 && code[at] == 0xE9;
}

/* call rel32; or call r/m64 in 2, 3, 4, 6 or 7 bytes. */
static inline bool jsp_insn_is_call(const uint8_t before[JSP_INSN_CALL_BYTES])
{
    static const uint8_t lengths[] = { 2, 3, 4, 6, 7 };
    if (before[JSP_INSN_CALL_BYTES - 5] == 0xE8)
        return true;
    for (size_t i = 0; i < sizeof lengths; i++) {
        const uint8_t *at = before + JSP_INSN_CALL_BYTES - lengths[i];
        if (at[0] == 0xFF && (at[1] & 0x38) == 0x10)
            return true;
    }
    return false;
}

#endif
