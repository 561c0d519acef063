/* sigsafe/cfa.h - a frame's unwind program, run: one callback's worth a change.
 *
 * DW_CFA_* programs say, instruction range by instruction range, how the frame is
 * left. Of all registers only those are followed that a walk needs (see
 * sigsafe/regs_*.h); the rest is read and dropped.
 *
 * Bounded by the program's bytes. Handler and any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_CFA_H
#define JSP_SIGSAFE_CFA_H

#include "ehframe.h"
#include "unwind_map.h"

/* At one place of the program; expressions are offsets into the section. */
struct jsp_cfa_state {
    struct jsp_unwind_cell cfa, ra, sp, fp, extra;
    int32_t cfa_offset; /* the last one given; outlives an expression */
};

enum { JSP_CFA_NESTED = 32 }; /* remember_state within remember_state */

/* Runs programs; zero it, then give the section. */
struct jsp_cfa {
    const struct jsp_ehframe_section *section;
    struct jsp_cfa_state now, initial;
    struct jsp_cfa_state remembered[JSP_CFA_NESTED];
    uint64_t initial_of; /* offset of the CIE that `initial` is of, + 1; 0: none */
    uint32_t depth;
    bool is_changed;     /* `now` is not what was told last */
};

/* From this address on the state is this. False: stop, the program is refused. */
typedef bool (*jsp_cfa_row_sigsafe_fn)(void *arg, const struct jsp_ehframe_fde *fde,
                                       uint64_t at, const struct jsp_cfa_state *state);

/* Tell the states of one FDE, the first at its start. False: the program makes no
 * sense, or the callback refused; what was told is void. */
bool jsp_cfa_run(struct jsp_cfa *cfa, const struct jsp_ehframe_fde *fde,
                 jsp_cfa_row_sigsafe_fn row_sigsafe, void *arg);

/* The state in 32 bits: see enum jsp_how. False: it does not fit. */
bool jsp_cfa_plain(const struct jsp_cfa_state *state, uint32_t *how);

/* The state as a full rule; its expressions are offsets into the section. False: the frame
 * is the outermost one. */
bool jsp_cfa_rule(const struct jsp_ehframe_cie *cie, const struct jsp_cfa_state *state,
                  struct jsp_unwind_rule *rule);

#endif
