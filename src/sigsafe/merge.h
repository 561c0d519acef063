/* sigsafe/merge.h - VM and native frames of a record, in one order.
 *
 * The stack grows down, so what has the higher address is further out. A native
 * frame owns the bytes from its callee's CFA up to its own; a VM frame stands
 * inside the native frame that runs it, and comes after it. A VM frame without an
 * address stays with the one before it in its run. Where a host has no addresses
 * at all, each native activation of its interpreter's loop takes one run of VM
 * frames, from one that is marked as an entry to the next.
 *
 * Pure functions; any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_MERGE_H
#define JSP_SIGSAFE_MERGE_H

#include "record.h"

struct jsp_merged {
    uint64_t ip;   /* native: looked up one byte earlier unless `leaf`; VM: 0 */
    uint64_t pc;   /* VM: the host's own, 0: none */
    uint32_t id;   /* VM: the label */
    uint32_t line;
    bool native;
    bool leaf;
};

/* Code ranges of interpreter loops, sorted by nothing. */
struct jsp_loops {
    uint64_t (*at)[2]; /* start, end */
    uint32_t n;
};

/* All frames, innermost first; `out` has room for VM and native frames together.
 * Returns how many there are. */
uint32_t jsp_merge(const struct jsp_record *record, const struct jsp_loops *loops,
                   struct jsp_merged *out);

#endif
