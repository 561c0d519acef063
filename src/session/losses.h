/* session/losses.h - the lines of jsprof/losses with counts: see capture/embedded.h. It
 * only formats text. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LOSSES_H
#define JSP_SESSION_LOSSES_H

#include "capture/embedded.h"
#include "capture/writer.h"
#include "output.h"
#include "thread.h"

_Static_assert((int)JSP_EMBEDDED_ACCOUNT <= (int)JSP_WRITER_SLOT, "one can be reserved");

struct jsp_losses_total {
    const char *state;
    int write_error;
    const struct jsp_counts *counts; /* of all threads, gone ones included */
    struct jsp_tally tally;
};

/* Write the line of all threads with its newline to `to`, which has room for
 * JSP_EMBEDDED_ACCOUNT bytes. Return its length. */
size_t jsp_losses_total(char *to, const struct jsp_losses_total *total);

/* Write a thread's line, as jsp_losses_total does. */
size_t jsp_losses_thread(char *to, const struct jsp_thread *t, const struct jsp_tally *tally);

#endif
