/* base/losses.h - why a timer expiration is in no sample: the one table of causes.
 *
 * Each cause has a row here, a counter (lost[JSP_LOST_...] of a thread's counters), and
 * two places that users read: a field of jsprof_stats and a row of docs/capture.md. The
 * file, its reader, `jsprof info` and the exports follow the table; tests/check/losses.sh
 * compares the documents with it.
 *
 * X(CAUSE, cause, asked, name, meaning): `lost_cause` is its key in files and in the
 * public header, `name` its heading in reports. `asked` is true if the host wanted no
 * sample for the expiration; the other causes hide time of the program. Every layer may
 * include this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_LOSSES_H
#define JSP_BASE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "jsprof.h"

/* The causes of the first captures. */
#define JSP_LOSSES_FIRST(X) \
    X(RING, ring, false, "ring full", "the drain was late, and the ring was full") \
    X(PAUSED, paused, true, "paused", "between `jsprof_thread_pause` and `_resume`") \
    X(LATE, late, true, "late", "the signal arrived after stop") \
    X(WRITE, write, false, "not written", "the file could not take the sample") \
    X(STACK, stack, false, "no stack left", "too little stack was left to sample on")

/* Later causes: captures of older libraries lack them, and CSV has them after its older
 * columns. */
#define JSP_LOSSES_LATER(X) \
    X(BLOCKED, blocked, false, "signal blocked", \
      "the thread blocked the signal, or it was ignored or another handler's") \
    X(UNDELIVERED, undelivered, false, "undelivered", \
      "due, but the signal had not come before detach or stop") \
    X(FOLD, fold, false, "not folded", "continuous mode had no room for another stack") \
    X(QUICK, quick, true, "in quick turns", "stall mode: in no turn that took too long")

#define JSP_LOSSES(X) JSP_LOSSES_FIRST(X) JSP_LOSSES_LATER(X)

#define JSP_LOSSES_ENUM(CAUSE, cause, asked, name, meaning) JSP_LOST_##CAUSE,
enum jsp_loss { JSP_LOSSES(JSP_LOSSES_ENUM) JSP_N_LOSSES };

struct jsp_loss_row {
    const char *key;  /* in the file */
    const char *word; /* the key where all rows are losses */
    const char *name; /* in reports */
    bool is_asked;
};
extern const struct jsp_loss_row jsp_losses[JSP_N_LOSSES];

/* Return the expirations that these counters lost, by every cause. */
uint64_t jsp_losses_sum(const uint64_t lost[JSP_N_LOSSES]);

/* Return the expirations that the statistics count as lost, by every cause: expirations - kept. */
uint64_t jsp_losses_of_stats(const jsprof_stats *stats);

#endif
