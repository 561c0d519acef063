/* session/last.c - the end of a file, of the session or of a recording; see session.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"
#include "losses.h"

enum { LAST_MARKS = 2 };
_Static_assert(JSP_MARKS_QUEUE <= LAST_MARKS * (JSP_WRITER_BYTES - JSP_WRITER_SPARE),
               "all that can wait goes out at the end");

/* Give up the waiting data, because the file takes nothing; if it does later, it gets the
 * loss. The caller holds `lock`. */
static void last_give_up(struct jsprof *p, int err)
{
    jsp_marks_give_up(&p->marks, &p->output.writer);
    jsp_output_give_up(&p->output, err);
    jsp_writer_forgive(&p->output.writer); /* the last lines are worth another wait */
    for (struct jsp_thread *t = p->threads; t; t = t->next) {
        t->written.expirations = UINT64_MAX; /* its line is out of date */
        t->link->is_fresh = true;
    }
}

int jsp_session_complete(struct jsprof *p, const struct jsp_counts *counts)
{
    char line[JSP_EMBEDDED_ACCOUNT];
    struct jsp_output *out = &p->output;
    int err = jsp_output_finish(out);
    struct jsp_losses_total total = { "final", err, counts, jsp_tallies_sum(&out->tallies) };
    jsp_writer_fill(&out->writer, line, (uint32_t)jsp_losses_total(line, &total));
    return err;
}

void jsp_session_last(struct jsprof *p, struct jsp_counts *counts)
{
    pthread_mutex_lock(&p->lock);
    int err = p->write_error;
    while (!jsp_drain_pass(p, err))
        err = jsp_drain_write(p, jsp_output_flush_patiently);
    jsp_output_side(&p->output);
    err = jsp_drain_write(p, jsp_output_flush_patiently);
    /* Write the marks that did not fit beside the last samples: at most twice the
     * buffer. */
    for (int i = 0; i < LAST_MARKS && !err; i++) {
        jsp_stall_marks(p);
        err = jsp_drain_write(p, jsp_output_flush_patiently);
    }
    if (err)
        last_give_up(p, err);
    jsp_drain_report(p, "final");
    jsp_drain_counts(p, counts);
    pthread_mutex_unlock(&p->lock);
}
