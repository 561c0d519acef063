/* session/losses.c - see losses.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "losses.h"

/* Fill the counts, which can be summed over threads. */
static void losses_counts(struct jsp_account_thread *to, const struct jsp_counts *c,
                          const struct jsp_tally *tally)
{
    to->expirations = c->expirations;
    to->kept = tally->kept;
    to->samples = tally->samples;
    memcpy(to->lost, c->lost, sizeof to->lost);
    to->lost[JSP_LOST_WRITE] = tally->lost;
    to->lost[JSP_LOST_FOLD] = tally->unfolded;
    to->frames_cut = c->frames_cut;
    to->frames_bad = c->frames_bad;
    to->underflows = c->underflows;
    to->stop_end = c->stops[JSP_STOP_END];
    to->stop_full = c->stops[JSP_STOP_FULL];
    to->stop_no_table = c->stops[JSP_STOP_NO_TABLE];
    to->stop_stack = c->stops[JSP_STOP_STACK];
    to->stop_unreadable = c->stops[JSP_STOP_UNREADABLE];
    to->stop_rule = c->stops[JSP_STOP_RULE];
    to->handler_ns = c->handler_ns;
    to->alloc_bytes = c->alloc_bytes;
    to->alloc_lost = c->alloc_lost;
    to->alloc_untold = c->alloc_untold;
    to->tags_full = c->tags.full;
    to->tags_cut = c->tags.cut;
    to->tags_foreign = c->tags.foreign;
    to->tags_unmatched = c->tags.unmatched;
}

static void losses_tasks(struct jsp_account_thread *to, const struct jsp_tasks_counts *c)
{
    to->tasks_lost = c->lost;
    to->tasks_unmatched = c->unmatched;
    to->tasks_left = c->left;
    to->tasks_deep = c->deep;
    to->tasks_foreign = c->foreign;
}

size_t jsp_losses_thread(char *to, const struct jsp_thread *t, const struct jsp_tally *tally)
{
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_THREAD };
    line.thread.id = t->link->id;
    line.thread.tid = t->tid;
    memcpy(line.thread.name, t->name, sizeof t->name);
    losses_counts(&line.thread, &t->counts, tally);
    losses_tasks(&line.thread, &t->task_counts);
    jsp_thread_armed_ns(t, line.thread.clock_ns);
    return jsp_embedded_account_put(to, &line);
}

size_t jsp_losses_total(char *to, const struct jsp_losses_total *total)
{
    struct jsp_embedded_account line = { .tag = JSP_ACCOUNT_TOTAL };
    strcpy(line.total.state, total->state);
    line.total.time = jsp_now_ns(CLOCK_MONOTONIC);
    line.total.write_error = -total->write_error;
    losses_counts(&line.total.sum, total->counts, &total->tally);
    return jsp_embedded_account_put(to, &line);
}
