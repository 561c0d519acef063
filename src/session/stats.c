/* session/stats.c - the counters of a session; see session.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "drain.h"
#include "live.h"

void jsp_session_counts(const struct jsprof *p, struct jsp_counts *sum)
{
    *sum = p->gone;
    for (const struct jsp_thread *t = p->threads; t; t = t->next)
        jsp_counts_add(sum, &t->counts);
}

/* Return the sum over all threads. Waiting samples count as kept until the file refuses
 * data. */
struct jsp_tally jsp_session_tally(const struct jsprof *p)
{
    struct jsp_tally tally = jsp_tallies_sum(&p->output.tallies);
    if (p->write_error) {
        tally.samples -= p->unwritten.samples;
        tally.kept -= p->unwritten.kept;
        tally.lost += p->unwritten.kept;
    }
    return tally;
}

#define STATS_LOSS(CAUSE, cause, asked, name, meaning) \
    out->lost_##cause = c->lost[JSP_LOST_##CAUSE];

static void stats_copy(jsprof_stats *out, const struct jsp_counts *c)
{
    out->expirations = c->expirations;
    JSP_LOSSES(STATS_LOSS)
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
        jsp_drain_pass(p, false); /* samples that came late */
    jsp_session_counts(p, &sum);
    struct jsp_tally tally = jsp_session_tally(p);
    sum.lost[JSP_LOST_WRITE] = tally.lost;
    stats_copy(out, &sum);
    out->samples = tally.samples;
    out->kept = tally.kept;
    out->labels_lost = jsp_counted(&p->arena.n_lost);
    out->write_error = p->write_error;
    out->marks_lost = jsp_marks_lost(&p->marks);
    pthread_mutex_unlock(&p->lock);
    jsp_live_leave(p);
    return 0;
}
