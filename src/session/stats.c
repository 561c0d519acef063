/* session/stats.c - the counters of a session; see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"
#include "live.h"

static void stats_total(const struct jsprof *p, struct jsp_counts *sum)
{
    *sum = p->gone;
    for (const struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_counts_add(sum, &t->counts);
}

static void stats_copy(jsprof_stats *out, const struct jsp_counts *c)
{
    out->expirations = c->expirations;
    out->lost_ring = c->lost_ring;
    out->lost_paused = c->lost_paused;
    out->lost_late = c->lost_late;
    out->lost_stack = c->lost_stack;
    out->lost_blocked = c->lost_blocked;
    out->lost_undelivered = c->lost_undelivered;
    out->frames_cut = c->frames_cut;
    out->frames_bad = c->frames_bad;
    out->labels_cut = c->labels_cut;
    out->underflows = c->underflows;
    out->handler_ns = c->handler_ns;
    out->stop_end = c->stops[JSP_STOP_END];
    out->stop_full = c->stops[JSP_STOP_FULL];
    out->stop_no_table = c->stops[JSP_STOP_NO_TABLE];
    out->stop_stack = c->stops[JSP_STOP_STACK];
    out->stop_unreadable = c->stops[JSP_STOP_UNREADABLE];
    out->stop_rule = c->stops[JSP_STOP_RULE];
}

int jsp_session_stats(struct jsprof *p, jsprof_stats *out)
{
    struct jsp_counts sum;
    int err = jsp_live_enter(p);
    if (err)
        return err;
    pthread_mutex_lock(&p->lock);
    if (!p->draining)
        jsp_drain_pass(p, false); /* what came late */
    stats_total(p, &sum);
    stats_copy(out, &sum);
    struct jsp_tally tally = jsp_tallies_sum(&p->output.tallies);
    out->samples = tally.samples;
    out->kept = tally.kept;
    out->lost_write = tally.lost;
    if (p->write_error) {
        out->samples -= p->unwritten_samples;
        out->kept -= p->unwritten;
        out->lost_write += p->unwritten;
    }
    out->labels_lost = jsp_counted(&p->arena.n_lost);
    out->write_error = p->write_error;
    out->marks_lost = jsp_marks_lost(&p->marks);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return 0;
}
