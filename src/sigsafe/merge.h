/* sigsafe/merge.h - the VM and native frames of a record, in one order.
 *
 * The stack grows down, so the frame with the higher address is further out. A native
 * frame owns the bytes from its callee's CFA up to its own CFA. A VM frame lies inside
 * the native frame that runs it, and comes after it. A VM frame without an address stays
 * next to the previous one in its run. Where a host has no addresses at all, each native
 * activation of its interpreter's loop takes one run of VM frames, from one that is
 * marked as an entry to the next. Frames before the first entry were called by C, and lie
 * just outside of the first activation.
 *
 * Pure functions; any thread may call them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SIGSAFE_MERGE_H
#define JSP_SIGSAFE_MERGE_H

#include "record.h"

struct jsp_merged {
    uint64_t ip;   /* native: look up ip - 1, or ip if `leaf`; VM: 0 */
    uint64_t pc;   /* VM: the host's own value; 0: none */
    uint32_t id;   /* VM: the label */
    uint32_t line;
    bool native;
    bool leaf;
};

/* Code ranges of interpreter loops, in no order. */
struct jsp_loops {
    uint64_t (*at)[2]; /* start, end */
    uint32_t n;
};

/* Write all frames to `out`, innermost first, and return their number. `out` has room for
 * VM and native frames together. */
uint32_t jsp_merge(const struct jsp_record *record, const struct jsp_loops *loops,
                   struct jsp_merged *out);

#endif
