/* read/recorded.c - what the recorder counted: of each thread, of all, of the session.
 *
 * SPDX-License-Identifier: MIT
 */
#include "reader.h"

static jsprof_read_account recorded_account(const struct jsp_profile *p,
                                            const struct jsp_account_thread *a)
{
    const struct jsp_thread_info *thread = jsp_profile_thread(p, a->pid, a->tid);
    return (jsprof_read_account){
        .pid = a->pid, .tid = a->tid, .name = a->name, .samples = a->samples,
        .expirations = a->expirations, .kept = a->kept, .lost = jsp_account_lost(a),
        .unseen = jsp_account_unseen(a), .cpu_ns = a->clock_ns[JSP_CLOCK_CPU],
        .wall_ns = a->clock_ns[JSP_CLOCK_WALL], .frames_cut = a->frames_cut,
        .frames_bad = a->frames_bad, .underflows = a->underflows,
        .kept_of_tid = a->kept_of_tid, .unseen_of_tid = a->unseen_of_tid, .in_file = a->in_file,
        .walks_whole = a->stop_end, .walks_full = a->stop_full,
        .walks_no_table = a->stop_no_table, .walks_stack = a->stop_stack,
        .walks_unreadable = a->stop_unreadable, .walks_rule = a->stop_rule,
        .alloc_bytes = a->alloc_bytes, .alloc_lost = a->alloc_lost,
        .alloc_untold = a->alloc_untold, .labels_full = a->tags_full, .labels_cut = a->tags_cut,
        .labels_foreign = a->tags_foreign, .labels_unmatched = a->tags_unmatched,
        .thread = thread ? (uint32_t)(thread - p->threads) : JSPROF_READ_ALL,
        .is_newest = a->is_newest,
    };
}

int64_t jsprof_read_accounts(const jsprof_reader *r, uint64_t first, jsprof_read_account *out,
                             uint64_t n)
{
    const struct jsp_account *all = &r->profile.account;
    int64_t rows;
    if (!jsp_reader_range(all->n_threads, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const jsprof_read_account row = recorded_account(&r->profile, &all->threads[first + i]);
        jsp_reader_give(out, i, &row, sizeof row);
    }
    return rows;
}

int jsprof_read_session_of(const jsprof_reader *r, jsprof_read_session *out,
                           jsprof_read_account *all)
{
    const struct jsp_account_session *s = &r->profile.account.session;
    struct jsp_account_verdict v;
    jsp_account_verdict(&r->profile.account, &v);
    const jsprof_read_session session = {
        .state = s->state, .names_lost = s->labels_lost, .names_cut = s->labels_cut,
        .addresses_lost = s->addresses_missed, .forks = s->forks, .alloc_lost = s->allocs_lost,
        .labels_bad = s->tags_bad, .labels_stray = s->tags_stray,
        .labels_lost = s->tags_unwritten, .is_there = s->present, .has_total = v.is_total,
    };
    jsp_reader_give(out, 0, &session, sizeof session);
    if (all) {
        jsprof_read_account sum = recorded_account(&r->profile, &v.sum);
        sum.name = "";
        jsp_reader_give(all, 0, &sum, sizeof sum);
    }
    return 0;
}

/* -- Losses by cause ------------------------------------------------------------ */

static int64_t recorded_losses(const struct jsp_account_thread *of, uint64_t first,
                               jsprof_read_loss *out, uint64_t n)
{
    int64_t rows;
    if (!jsp_reader_range(JSP_N_LOSSES, first, n, out, &rows))
        return rows;
    for (uint64_t i = 0; i < (uint64_t)rows; i++) {
        const struct jsp_loss_row *cause = &jsp_losses[first + i];
        const jsprof_read_loss loss = { .count = of->lost[first + i], .key = cause->key,
                                        .name = cause->name, .is_asked = cause->is_asked };
        jsp_reader_give(out, i, &loss, sizeof loss);
    }
    return rows;
}

int64_t jsprof_read_account_losses(const jsprof_reader *r, uint64_t account, uint64_t first,
                                   jsprof_read_loss *out, uint64_t n)
{
    const struct jsp_account *all = &r->profile.account;
    return account < all->n_threads ? recorded_losses(&all->threads[account], first, out, n) : 0;
}

struct jsp_account_thread jsp_reader_sum(const struct jsp_thread_info *t)
{
    struct jsp_account_thread sum = { 0 };
    for (const struct jsp_account_thread *a = t->losses; a; a = a->older)
        jsp_embedded_account_add(&sum, a);
    return sum;
}

int64_t jsprof_read_losses(const jsprof_reader *r, uint32_t thread, uint64_t first,
                           jsprof_read_loss *out, uint64_t n)
{
    const struct jsp_profile *p = &r->profile;
    struct jsp_account_verdict v;
    if (thread != JSPROF_READ_ALL && thread >= p->n_threads)
        return 0;
    jsp_account_verdict(&p->account, &v);
    if (thread != JSPROF_READ_ALL)
        v.sum = jsp_reader_sum(&p->threads[thread]);
    return recorded_losses(&v.sum, first, out, n);
}
