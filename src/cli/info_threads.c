/* cli/info_threads.c - threads of a recording: rates, losses, and whether they add up.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"
#include "options.h"

struct info_cause {
    const char *name;
    size_t offset;
};

#define INFO_LOSS(CAUSE, cause, asked, name, meaning) \
    { name, offsetof(struct jsp_account_thread, lost[JSP_LOST_##CAUSE]) },

static const struct info_cause info_causes[] = {
    JSP_LOSSES(INFO_LOSS)
    { "frames cut", offsetof(struct jsp_account_thread, frames_cut) },
    { "frames bad", offsetof(struct jsp_account_thread, frames_bad) },
    { "underflows", offsetof(struct jsp_account_thread, underflows) },
};

static uint64_t info_cause_of(const struct jsp_account_thread *t,
                              const struct info_cause *c)
{
    uint64_t n;
    memcpy(&n, (const char *)t + c->offset, sizeof n);
    return n;
}

void cli_info_extras(const struct cli_info_sum *sum)
{
    const struct jsp_account_thread *t = &sum->t;
    char times[CLI_NUMBER];
    int shown = 0;
    if (sum->times > 1)
        printf("           attached %s times\n", cli_count(times, sum->times));
    for (size_t i = 0; i < sizeof info_causes / sizeof *info_causes; i++) {
        uint64_t n = i != JSP_LOST_QUICK ? info_cause_of(t, &info_causes[i]) : 0;
        char text[CLI_NUMBER];
        if (n)
            printf("%s%s %s", shown++ ? ", " : "           lost: ", info_causes[i].name,
                   cli_count(text, n));
    }
    if (shown)
        putchar('\n');
    if (t->lost[JSP_LOST_QUICK])
        printf("           left out, because no turn took too long then: %s\n",
               cli_count(times, t->lost[JSP_LOST_QUICK]));
}

static int info_compare(const void *a, const void *b)
{
    const struct cli_info_sum *x = a, *y = b;
    int order = (x->t.pid > y->t.pid) - (x->t.pid < y->t.pid);
    if (!order)
        order = (x->t.tid > y->t.tid) - (x->t.tid < y->t.tid);
    if (!order)
        order = strcmp(x->t.name, y->t.name);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static int info_compare_first(const void *a, const void *b)
{
    const struct cli_info_sum *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void info_add(struct cli_info_sum *sum, const struct jsp_account_thread *t)
{
    sum->times++;
    sum->t.samples += t->samples;
    sum->t.expirations += t->expirations;
    sum->t.kept += t->kept;
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        sum->t.clock_ns[clock] += t->clock_ns[clock];
    for (size_t i = 0; i < sizeof info_causes / sizeof *info_causes; i++) {
        uint64_t n = info_cause_of(&sum->t, &info_causes[i]) +
                     info_cause_of(t, &info_causes[i]);
        memcpy((char *)&sum->t + info_causes[i].offset, &n, sizeof n);
    }
}

struct cli_info_sum *cli_info_sums(const struct jsp_account *a, uint32_t *n)
{
    struct cli_info_sum *sums = malloc(((size_t)a->n_threads + 1) * sizeof *sums);
    *n = 0;
    if (!sums)
        return NULL;
    for (uint32_t i = 0; i < a->n_threads; i++)
        sums[i] = (struct cli_info_sum){ a->threads[i], i, 1 };
    qsort(sums, a->n_threads, sizeof *sums, info_compare);
    for (uint32_t i = 0; i < a->n_threads; i++) {
        struct cli_info_sum *last = *n ? &sums[*n - 1] : NULL;
        if (last && last->t.pid == sums[i].t.pid && last->t.tid == sums[i].t.tid &&
            strcmp(last->t.name, sums[i].t.name) == 0)
            info_add(last, &sums[i].t);
        else
            sums[(*n)++] = sums[i];
    }
    qsort(sums, *n, sizeof *sums, info_compare_first);
    return sums;
}

int cli_info_adds_up(const struct cli_capture *c, const struct jsp_account_thread *t)
{
    bool is_final = strcmp(c->profile->account.session.state, "final") == 0;
    int status = CLI_OK;
    if (t->expirations != t->kept + jsp_account_lost(t))
        status = cli_fail(c->label,
                          "MISMATCH: thread %" PRId32 " had %" PRIu64
                          " expiration%s, but kept %" PRIu64 " and lost %" PRIu64,
                          t->tid, t->expirations, cli_s(t->expirations), t->kept,
                          jsp_account_lost(t));
    /* During a recording, samples are written before the counts that include them. */
    if (t->is_newest &&
        (is_final ? t->kept_of_tid != t->in_file : t->kept_of_tid > t->in_file))
        status = cli_fail(c->label,
                          "MISMATCH: thread %" PRId32 " kept %" PRIu64
                          " expiration%s, but the file has samples for %" PRIu64,
                          t->tid, t->kept_of_tid, cli_s(t->kept_of_tid), t->in_file);
    return status;
}

/* Check the sum of all threads, and that the file contains what the account counts as kept. */
static int info_verdict(const struct cli_capture *c, const struct jsp_account_verdict *v)
{
    uint64_t lost = jsp_account_lost(&v->sum), in_file = c->profile->weight;
    bool is_final = strcmp(v->state, "final") == 0;
    if (!v->is_total) /* each thread is checked separately */
        return CLI_OK;
    if (v->sum.expirations != v->sum.kept + lost)
        return cli_fail(c->label,
                        "MISMATCH: %" PRIu64 " expiration%s, but %" PRIu64 " kept and %" PRIu64
                        " lost", v->sum.expirations, cli_s(v->sum.expirations), v->sum.kept, lost);
    if (is_final ? v->sum.kept != in_file : v->sum.kept > in_file)
        return cli_fail(c->label,
                        "MISMATCH: %" PRIu64 " expiration%s kept, but the file has samples for %"
                        PRIu64, v->sum.kept, cli_s(v->sum.kept), in_file);
    return CLI_OK;
}

int cli_info_balance(const struct cli_capture *c)
{
    const struct jsp_account *account = &c->profile->account;
    struct jsp_account_verdict v;
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER];
    jsp_account_verdict(account, &v);
    if (account->n_threads == 0 && !v.is_total) {
        if (c->profile->is_relayed)
            puts("\nanother program's recording has no weights and losses: samples are no times");
        else if (c->profile->version[0])
            puts("\nno account of the recording is in the file: incomplete");
        return CLI_OK;
    }
    int status = info_verdict(c, &v);
    for (uint32_t i = 0; i < account->n_threads; i++)
        if (cli_info_adds_up(c, &account->threads[i]))
            status = CLI_FAILED;
    uint64_t quick = v.sum.lost[JSP_LOST_QUICK];
    printf("\n%s expiration%s = %s kept + ", cli_count(a, v.sum.expirations),
           cli_s(v.sum.expirations), cli_count(b, v.sum.kept));
    if (quick)
        printf("%s in quick turns + ", cli_count(a, quick));
    printf("%s lost: ", cli_count(d, jsp_account_lost(&v.sum) - quick));
    cli_colour(&c->style, status ? CLI_HOT : v.is_whole ? CLI_GOOD : CLI_WARM);
    fputs(status       ? "DOES NOT ADD UP"
          : v.is_whole ? "adds up, and the file holds them all"
          : v.is_total ? "incomplete, but all that is missing is counted"
                       : "incomplete, and what was counted last is not in it",
          stdout);
    cli_colour(&c->style, CLI_PLAIN);
    putchar('\n');
    if (v.is_total && !v.is_whole) {
        cli_info_extras(&(struct cli_info_sum){ .t = v.sum });
        puts("The lines of threads are as of the last time that the file took them.");
    }
    /* Print how much time the blocked signal cost, and what to do. No function has this time. */
    uint64_t blocked = v.sum.lost[JSP_LOST_BLOCKED];
    if (!blocked)
        return status;
    cli_colour(&c->style, CLI_WARM);
    printf("%s of the time went by unseen: ",
           cli_percent(a, (double)blocked / (double)v.sum.expirations));
    cli_colour(&c->style, CLI_PLAIN);
    puts("threads blocked the profiler's signal, or it was ignored\n"
         "or taken by another handler. Leave the signal (SIGPROF) unblocked and its handler in "
         "place,\nor choose another one (signo of jsprof_options).");
    return status;
}
