/* session/merge.h - the runs of a record, in one order.
 *
 * The stack grows down, so the frame with the highest stack address is the
 * outermost. A frame that has none stays with the one before it in its run.
 * A pure function; any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_MERGE_H
#define JSP_SESSION_MERGE_H

#include "sigsafe/record.h"

/* All frames, innermost first; `out` has room for jsp_record_frames(). */
void jsp_merge(const struct jsp_record *record, struct jsp_rec_frame *out);

#endif
