/* session/ending.c - see ending.h and session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ending.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drain.h"
#include "live.h"
#include "losses.h"
#include "process.h"
#include "signals.h"

void jsp_session_free(struct jsprof *p)
{
    if (p->native)
        jsp_objects_free(&p->objects);
    jsp_perfmap_close(&p->perf);
    jsp_marks_free(&p->marks);
    jsp_codes_free(&p->codes);
    jsp_calls_close(&p->calls);
    munmap(p->arena.bytes, p->label_bytes);
    munmap(p->arena.slots, p->slots_bytes);
    free(p->file);
    free(p);
}

enum { ENDING_MARKS = 2 };
_Static_assert(JSP_MARKS_QUEUE <= ENDING_MARKS * (JSP_WRITER_BYTES - JSP_WRITER_SPARE),
               "all that can wait goes out at the end");

static struct jsprof *ending_kept; /* protected by the process lock */

/* Keep the session for ever, because its data are inconsistent or still in use. */
static void ending_keep(struct jsprof *p)
{
    jsp_process_lock();
    p->kept = ending_kept;
    ending_kept = p;
    jsp_process_unlock();
}

/* Give up a session in a forked child: the file is the parent's, and another thread of
 * the parent may have been changing anything except what is constant since open. */
static void ending_abandon(struct jsprof *p)
{
    for (struct jsp_sampled *s; (s = jsp_sampled_find(p)) != NULL;)
        s->session = NULL;
    jsp_live_remove(p);
    jsp_output_abandon(&p->output);
    jsp_perfmap_abandon(&p->perf);
    munmap(p->arena.bytes, p->label_bytes);
    munmap(p->arena.slots, p->slots_bytes);
    ending_keep(p);
}

/* Remove the session from threads that never detached; they become inert. */
static void ending_orphan_all(struct jsprof *p)
{
    jsp_process_lock();
    pthread_mutex_lock(&p->lock);
    for (struct jsp_thread *t = p->threads, *next; t; t = next) {
        next = t->next;
        /* first: a call of the thread is in the session by this pointer */
        jsp_thread_seal(t);
        t->session = NULL;
        t->sampled.session = NULL;
        t->listed = false;
        p->stuck = p->stuck || t->stuck;
        jsp_thread_release(t);
    }
    p->threads = NULL;
    pthread_mutex_unlock(&p->lock);
    jsp_process_unlock();
}

/* Give up the waiting data, because the file takes nothing; if it does later, it gets the
 * loss. The caller holds `lock`. */
static void ending_give_up(struct jsprof *p, int err)
{
    jsp_marks_give_up(&p->marks, &p->output.writer);
    jsp_output_give_up(&p->output, err);
    jsp_writer_forgive(&p->output.writer); /* the last lines are worth another wait */
    for (struct jsp_thread *t = p->threads; t; t = t->next)
        t->written.expirations = UINT64_MAX; /* its line is out of date */
}

/* Write the rest of the file, and the final account into its reserved place. */
static int ending_write(struct jsprof *p, const struct jsp_counts *counts)
{
    char line[JSP_LOSSES_LINE];
    struct jsp_output *out = &p->output;
    int err = jsp_output_finish(out);
    struct jsp_losses_total total = { "final", err, counts, jsp_tallies_sum(&out->tallies) };
    jsp_writer_fill(&out->writer, line, (uint32_t)jsp_losses_total(line, &total));
    int closed = jsp_output_close(out);
    return err ? err : closed;
}

int jsp_session_close(struct jsprof *p)
{
    int err = jsp_live_end(p);
    if (err == -ECHILD) {
        ending_abandon(p);
        return 0;
    }
    if (err)
        return err;
    struct jsp_signals_hushed hushed;
    pthread_mutex_lock(&p->lock);
    if (!p->draining)
        /* otherwise the drain's last flush waits */
        jsp_writer_forgive(&p->output.writer);
    pthread_mutex_unlock(&p->lock);
    jsp_session_halt(p);
    pthread_mutex_lock(&p->lock);
    jsp_calls_stop(&p->calls, p->threads);
    err = p->write_error;
    while (!jsp_drain_pass(p, err))
        err = jsp_drain_write(p, jsp_output_flush_patiently);
    jsp_output_side(&p->output);
    err = jsp_drain_write(p, jsp_output_flush_patiently);
    /* Write the marks that did not fit beside the last samples: at most twice the
     * buffer. */
    for (int i = 0; i < ENDING_MARKS && !err; i++) {
        jsp_marks_drain(&p->marks, &p->output.writer);
        err = jsp_drain_write(p, jsp_output_flush_patiently);
    }
    if (err)
        ending_give_up(p, err);
    jsp_drain_report(p, "final");
    struct jsp_counts counts;
    jsp_session_counts(p, &counts);
    pthread_mutex_unlock(&p->lock);
    ending_orphan_all(p);
    jsp_live_remove(p);
    jsp_signals_hush(&hushed);
    err = ending_write(p, &counts);
    jsp_signals_unhush(&hushed);
    if (p->stuck) {
        ending_keep(p);
        return err;
    }
    pthread_mutex_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->served_cond);
    jsp_session_free(p);
    return err;
}
