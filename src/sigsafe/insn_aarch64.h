/* sigsafe/insn_aarch64.h - see insn.h.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_INSN_AARCH64_H
#define JSP_SIGSAFE_INSN_AARCH64_H

#include "insn.h"

enum { JSP_INSN_CALL_BYTES = 4, JSP_INSN_SAVE_BYTES = 4 };
enum { INSN_FP = 29, INSN_LR = 30, INSN_SP = 31 };

/* How a load or store changes sp: bits 23 and 24 of the instruction. */
enum { INSN_POST = 1, INSN_OFFSET = 2, INSN_PRE = 3 };

/* Return `bits` bits of the word, from bit `from` on, as a signed number. */
static inline int32_t insn_signed(uint32_t word, uint32_t from, uint32_t bits)
{
    return (int32_t)(word << (32 - from - bits)) >> (32 - bits);
}

/* Note how a load or store in this mode changes sp by `offset`. */
static inline void insn_memory(struct jsp_insn *insn, uint32_t mode, int32_t offset)
{
    if (mode == INSN_PRE)
        insn->before = offset;
    if (mode == INSN_POST)
        insn->after = offset;
}

/* Note that one register is stored to or loaded from sp + at. */
static inline void insn_register(struct jsp_insn *insn, uint32_t reg, bool load, int32_t at)
{
    insn->builds = insn->builds || !load;
    if (reg == INSN_FP) {
        insn->saves_fp = insn->saves_fp || !load;
        insn->loads_fp = insn->loads_fp || load;
        insn->fp_at = at;
    }
    if (reg == INSN_LR && load) {
        insn->loads_extra = true;
        insn->extra_at = at;
    }
}

/* stp and ldp of two x or d registers, base sp. */
static inline bool insn_pair(uint32_t word, struct jsp_insn *insn)
{
    uint32_t mode = word >> 23 & 7;
    bool vector = word >> 26 & 1, load = word >> 22 & 1;
    if ((word & 0xFA000000) != (vector ? 0x68000000u : 0xA8000000u) || !mode ||
        mode > INSN_PRE || (word >> 5 & 31) != INSN_SP || (vector && word >> 30 != 1))
        return false;
    int32_t offset = 8 * insn_signed(word, 15, 7), at = mode == INSN_OFFSET ? offset : 0;
    insn_memory(insn, mode, offset);
    insn_register(insn, vector ? 0 : word & 31, load, at);
    insn_register(insn, vector ? 0 : word >> 10 & 31, load, at + 8);
    return true;
}

/* str and ldr of one x register, base sp. */
static inline bool insn_single(uint32_t word, struct jsp_insn *insn)
{
    bool load = word >> 22 & 1;
    if ((word >> 5 & 31) != INSN_SP || (word & 0xFE800000) != 0xF8000000)
        return false;
    if (word >> 24 & 1) { /* unsigned offset */
        insn_register(insn, word & 31, load, (int32_t)(word >> 10 & 0xFFF) * 8);
        return true;
    }
    uint32_t mode = word >> 10 & 3;
    if (word >> 21 & 1 || (mode != 1 && mode != 3))
        return false;
    insn_memory(insn, mode, insn_signed(word, 12, 9));
    insn_register(insn, word & 31, load, 0);
    return true;
}

/* add and sub of sp, x29 and a number. */
static inline bool insn_add(uint32_t word, struct jsp_insn *insn)
{
    uint32_t to = word & 31, from = word >> 5 & 31;
    int32_t n = (int32_t)(word >> 10 & 0xFFF) << (word >> 22 & 1 ? 12 : 0);
    if ((word & 0xBF800000) != 0x91000000)
        return false;
    insn->before = word >> 30 & 1 ? -n : n;
    insn->from_fp = from == INSN_FP;
    insn->sets_fp = to == INSN_FP && from == INSN_SP;
    insn->builds = insn->sets_fp || (!insn->from_fp && insn->before < 0);
    if (insn->sets_fp)
        insn->before = 0;
    return insn->sets_fp || (to == INSN_SP && (from == INSN_SP || from == INSN_FP));
}

/* Read an instruction that changes neither sp nor a saved register: a return, a jump, nop, or
 * a mark for return addresses. Return false if it is none of them. */
static inline bool insn_other(uint32_t word, struct jsp_insn *insn)
{
    insn->returns = word == 0xD65F03C0 || word == 0xD65F0BFF; /* ret, retaa */
    insn->jumps = (word & 0xFC000000) == 0x14000000 || (word & 0xFFFFFC1F) == 0xD61F0000;
    return insn->returns || insn->jumps || word == 0xD503201F /* nop */ ||
           word == 0xD503233F || word == 0xD50323BF /* paciasp, autiasp */ ||
           (word & 0xFFFFFF3F) == 0xD503241F /* bti */;
}

/* Read the first of `n` bytes of code as one instruction. Return false if it is none that a
 * prologue or epilogue has, or is cut short. */
static inline bool jsp_insn_read(const uint8_t *code, size_t n, struct jsp_insn *insn)
{
    uint32_t word;
    *insn = (struct jsp_insn){ .length = sizeof word };
    if (n < sizeof word)
        return false;
    memcpy(&word, code, sizeof word);
    return insn_pair(word, insn) || insn_single(word, insn) || insn_add(word, insn) ||
           insn_other(word, insn);
}

/* The stub is: adrp x16; ldr x17, [x16, n]; add x16, x16, n; br x17. The first stub,
 * which calls the resolver, begins with stp x16, x30, [sp, #-16]! before these. */
static inline bool jsp_insn_in_stub(const uint8_t *code, size_t n, size_t at, int32_t *by)
{
    static const uint32_t is[] = { 0x90000010, 0xF9400211, 0x91000210, 0xD61F0220 };
    static const uint32_t mask[] = { 0x9F00001F, 0xFFC003FF, 0xFF8003FF, 0xFFFFFFFF };
    uint32_t words[5], k = 0;
    for (; k < 4 && at >= 4 * k; k++) { /* find where the stub begins */
        size_t from = at - 4 * k, i = 0;
        if (from + 16 > n)
            continue;
        memcpy(words + 1, code + from, 16);
        while (i < 4 && (words[i + 1] & mask[i]) == is[i])
            i++;
        if (i < 4)
            continue;
        words[0] = 0;
        if (from >= 4)
            memcpy(words, code + from - 4, 4);
        *by = words[0] == 0xA9BF7BF0 ? -16 : 0;
        return true;
    }
    return false;
}

/* bl, blr, or a variant of blr that authenticates the address */
static inline bool jsp_insn_is_call(const uint8_t before[JSP_INSN_CALL_BYTES])
{
    uint32_t word;
    memcpy(&word, before, sizeof word);
    return (word & 0xFC000000) == 0x94000000 || (word & 0xFFFFFC1F) == 0xD63F0000 ||
           (word & 0xFEFFF800) == 0xD63F0800;
}

#endif
