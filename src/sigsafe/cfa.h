/* sigsafe/cfa.h - an interpreter of unwind programs: one callback for each change.
 *
 * A DW_CFA_* program describes, for each range of instructions, how to leave the frame.
 * The interpreter follows only the registers that a walk needs (see sigsafe/regs_*.h); it
 * reads and drops the rules of all others.
 *
 * The program's bytes bound the work. The handler and any thread may call this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_CFA_H
#define JSP_SIGSAFE_CFA_H

#include "ehframe.h"
#include "unwind_map.h"

/* The unwind rules at one place of the program. Expressions are offsets into the
 * section. */
struct jsp_cfa_state {
    struct jsp_unwind_cell cfa, ra, sp, fp, extra;
    int32_t cfa_offset; /* the last offset given; an expression does not change it */
};

enum { JSP_CFA_NESTED = 32 }; /* depth of remember_state within remember_state */

/* The interpreter. Zero it, then set `section`. */
struct jsp_cfa {
    const struct jsp_ehframe_section *section;
    struct jsp_cfa_state now, initial;
    struct jsp_cfa_state remembered[JSP_CFA_NESTED];
    uint64_t initial_of; /* offset + 1 of the CIE that `initial` belongs to; 0: none */
    uint32_t depth;
    bool is_changed;     /* `now` differs from what the callback last received */
};

/* Receive the state that holds from this address on. Return false to stop the run and
 * refuse the program. */
typedef bool (*jsp_cfa_row_sigsafe_fn)(void *arg, const struct jsp_ehframe_fde *fde,
                                       uint64_t at, const struct jsp_cfa_state *state);

/* Report the states of one FDE to `row_sigsafe`, the first one at the FDE's start. Return
 * false if the program makes no sense or the callback refused; the states reported so far
 * are then void. */
bool jsp_cfa_run(struct jsp_cfa *cfa, const struct jsp_ehframe_fde *fde,
                 jsp_cfa_row_sigsafe_fn row_sigsafe, void *arg);

/* Encode the state in 32 bits: see enum jsp_how. Return false if it does not fit. */
bool jsp_cfa_plain(const struct jsp_cfa_state *state, uint32_t *how);

/* Store the state as a full rule; its expressions are offsets into the section. Return
 * false if the frame is the outermost one. */
bool jsp_cfa_rule(const struct jsp_ehframe_cie *cie, const struct jsp_cfa_state *state,
                  struct jsp_unwind_rule *rule);

#endif
