/* session/losses.h - the lines of jsprof/losses, see docs/capture.md. It only formats
 * text. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LOSSES_H
#define JSP_SESSION_LOSSES_H

#include "capture/writer.h"
#include "output.h"
#include "thread.h"

enum { JSP_LOSSES_LINE = 1536 }; /* bytes; any line fits */
_Static_assert((int)JSP_LOSSES_LINE <= (int)JSP_WRITER_SLOT, "one can be reserved");

struct jsp_losses_session {
    const char *state;
    uint32_t hz;
    enum jsp_clock clock;
    uint64_t n_samples;
    uint64_t labels_cut;
    uint64_t marks_lost;
    uint64_t addresses_missed;
    int write_error;
    const struct jsp_arena *arena;
};

struct jsp_losses_total {
    const char *state;
    int write_error;
    const struct jsp_counts *counts; /* of all threads, gone ones included */
    struct jsp_tally tally;
};

/* Write a line with its newline to `to`, which has room for JSP_LOSSES_LINE bytes. Return
 * its length, or 0 if it does not fit. */
size_t jsp_losses_session(char *to, const struct jsp_losses_session *session);
size_t jsp_losses_total(char *to, const struct jsp_losses_total *total);
size_t jsp_losses_thread(char *to, const struct jsp_thread *t, const struct jsp_tally *tally);

#endif
