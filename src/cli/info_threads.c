/* cli/info_threads.c - threads of a recording: rates, losses, and whether they add up.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "advice.h"
#include "info.h"
#include "options.h"

/* -- Accounts --------------------------------------------------------------- */

static void info_clocks(struct cli_account *a)
{
    a->clock_ns[JSP_CLOCK_CPU] = a->is.cpu_ns;
    a->clock_ns[JSP_CLOCK_WALL] = a->is.wall_ns;
}

int cli_accounts_open(struct cli_accounts *a, const struct cli_capture *c)
{
    jsprof_reader *r = c->reader;
    jsprof_read_loss loss = { .size = sizeof loss };
    int64_t n = jsprof_read_accounts(r, 0, NULL, 0);
    *a = (struct cli_accounts){ .n = (uint32_t)n };
    a->n_sampled = (uint64_t)jsprof_read_threads(r, 0, NULL, 0);
    a->threads = calloc((size_t)n + 1, sizeof *a->threads);
    a->sampled = calloc(a->n_sampled + 1, sizeof *a->sampled);
    if (!a->threads || !a->sampled)
        return cli_fail(c->label, "%s", strerror(ENOMEM));
    a->sampled->size = sizeof *a->sampled;
    jsprof_read_threads(r, 0, a->sampled, a->n_sampled);
    a->session.size = sizeof a->session;
    a->all.is.size = sizeof a->all.is;
    jsprof_read_session_of(r, &a->session, &a->all.is);
    info_clocks(&a->all);
    for (uint64_t k = 0; jsprof_read_losses(r, JSPROF_READ_ALL, k, &loss, 1) == 1; k++)
        a->all.lost[k] = loss.count;
    for (uint64_t i = 0; i < a->n; i++) {
        struct cli_account *t = &a->threads[i];
        t->is.size = sizeof t->is;
        jsprof_read_accounts(r, i, &t->is, 1);
        info_clocks(t);
        for (uint64_t k = 0; jsprof_read_account_losses(r, i, k, &loss, 1) == 1; k++)
            t->lost[k] = loss.count;
    }
    return CLI_OK;
}

void cli_accounts_close(struct cli_accounts *a)
{
    free(a->threads);
    free(a->sampled);
}

/* -- Losses ----------------------------------------------------------------- */

struct info_cause {
    const char *name;
    size_t offset;
};

#define INFO_LOSS(CAUSE, cause, asked, name, meaning) \
    { name, offsetof(struct cli_account, lost[JSP_LOST_##CAUSE]) },

static const struct info_cause info_causes[] = {
    JSP_LOSSES(INFO_LOSS)
    { "frames cut", offsetof(struct cli_account, is.frames_cut) },
    { "frames bad", offsetof(struct cli_account, is.frames_bad) },
    { "underflows", offsetof(struct cli_account, is.underflows) },
};

static uint64_t info_cause_of(const struct cli_account *t,
                              const struct info_cause *c)
{
    uint64_t n;
    memcpy(&n, (const char *)t + c->offset, sizeof n);
    return n;
}

void cli_info_extras(const struct cli_info_sum *sum)
{
    const struct cli_account *t = &sum->t;
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
    int order = (x->t.is.pid > y->t.is.pid) - (x->t.is.pid < y->t.is.pid);
    if (!order)
        order = (x->t.is.tid > y->t.is.tid) - (x->t.is.tid < y->t.is.tid);
    if (!order)
        order = strcmp(x->t.is.name, y->t.is.name);
    return order ? order : (x->first > y->first) - (x->first < y->first);
}

static int info_compare_first(const void *a, const void *b)
{
    const struct cli_info_sum *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void info_add(struct cli_info_sum *sum, const struct cli_account *t)
{
    sum->times++;
    sum->t.is.samples += t->is.samples;
    sum->t.is.expirations += t->is.expirations;
    sum->t.is.kept += t->is.kept;
    sum->t.is.lost += t->is.lost;
    for (int clock = 0; clock < JSP_N_CLOCKS; clock++)
        sum->t.clock_ns[clock] += t->clock_ns[clock];
    for (size_t i = 0; i < sizeof info_causes / sizeof *info_causes; i++) {
        uint64_t n = info_cause_of(&sum->t, &info_causes[i]) +
                     info_cause_of(t, &info_causes[i]);
        memcpy((char *)&sum->t + info_causes[i].offset, &n, sizeof n);
    }
}

struct cli_info_sum *cli_info_sums(const struct cli_accounts *a, uint32_t *n)
{
    struct cli_info_sum *sums = malloc(((size_t)a->n + 1) * sizeof *sums);
    *n = 0;
    if (!sums)
        return NULL;
    for (uint32_t i = 0; i < a->n; i++)
        sums[i] = (struct cli_info_sum){ a->threads[i], i, 1 };
    qsort(sums, a->n, sizeof *sums, info_compare);
    for (uint32_t i = 0; i < a->n; i++) {
        struct cli_info_sum *last = *n ? &sums[*n - 1] : NULL;
        if (last && last->t.is.pid == sums[i].t.is.pid && last->t.is.tid == sums[i].t.is.tid &&
            strcmp(last->t.is.name, sums[i].t.is.name) == 0)
            info_add(last, &sums[i].t);
        else
            sums[(*n)++] = sums[i];
    }
    qsort(sums, *n, sizeof *sums, info_compare_first);
    return sums;
}

int cli_info_adds_up(const struct cli_capture *c, const struct cli_accounts *all,
                     const struct cli_account *of)
{
    const jsprof_read_account *t = &of->is;
    bool is_final = strcmp(all->session.state, "final") == 0;
    int status = CLI_OK;
    if (t->expirations != t->kept + t->lost)
        status = cli_fail(c->label,
                          "MISMATCH: thread %" PRId32 " had %" PRIu64
                          " expiration%s, but kept %" PRIu64 " and lost %" PRIu64,
                          t->tid, t->expirations, cli_s(t->expirations), t->kept, t->lost);
    /* During a recording, samples are written before the counts that include them. What a cut file
     * lacks is known. */
    if (t->is_newest && !c->is_cut &&
        (is_final ? t->kept_of_tid != t->in_file : t->kept_of_tid > t->in_file))
        status = cli_fail(c->label,
                          "MISMATCH: thread %" PRId32 " kept %" PRIu64
                          " expiration%s, but the file has samples for %" PRIu64,
                          t->tid, t->kept_of_tid, cli_s(t->kept_of_tid), t->in_file);
    return status;
}

/* Check the sum of all threads, and that the file contains what the account counts as kept. */
static int info_verdict(const struct cli_capture *c, const struct cli_accounts *a)
{
    const jsprof_read_account *sum = &a->all.is;
    uint64_t in_file = c->info.weight;
    bool is_final = strcmp(c->info.state, "final") == 0;
    if (!a->session.has_total) /* each thread is checked separately */
        return CLI_OK;
    if (c->is_cut && sum->kept > in_file) /* the line that says so is there */
        return CLI_FAILED;
    if (sum->expirations != sum->kept + sum->lost)
        return cli_fail(c->label,
                        "MISMATCH: %" PRIu64 " expiration%s, but %" PRIu64 " kept and %" PRIu64
                        " lost", sum->expirations, cli_s(sum->expirations), sum->kept, sum->lost);
    if (is_final ? sum->kept != in_file : sum->kept > in_file)
        return cli_fail(c->label,
                        "MISMATCH: %" PRIu64 " expiration%s kept, but the file has samples for %"
                        PRIu64, sum->kept, cli_s(sum->kept), in_file);
    return CLI_OK;
}

/* Print how much time a cause of losses cost, and what to do. No function has this time. */
static void info_unseen(const struct cli_capture *c, const struct cli_accounts *all, uint64_t n,
                        const char *why)
{
    char share[CLI_NUMBER];
    if (!n)
        return;
    cli_colour(&c->style, CLI_WARM);
    printf("%s of the time went by unseen: ",
           cli_percent(share, (double)n / (double)all->all.is.expirations));
    cli_colour(&c->style, CLI_PLAIN);
    puts(why);
}

int cli_info_balance(const struct cli_capture *c, const struct cli_accounts *all)
{
    const jsprof_read_account *sum = &all->all.is;
    bool is_whole = c->info.is_whole, is_total = all->session.has_total;
    char a[CLI_NUMBER], b[CLI_NUMBER], d[CLI_NUMBER];
    if (all->n == 0 && !is_total) {
        if (c->info.is_relayed)
            puts("\nanother program's recording has no weights and losses: samples are no times");
        else if (*c->info.version)
            puts("\nno account of the recording is in the file: incomplete");
        return CLI_OK;
    }
    int status = info_verdict(c, all);
    bool is_short = status && c->is_cut && sum->kept > c->info.weight;
    /* one line for what has no end: the sum, or the first thread */
    for (uint32_t i = 0; i < all->n && !(status && c->info.lacks_end); i++)
        if (cli_info_adds_up(c, all, &all->threads[i]))
            status = CLI_FAILED;
    uint64_t quick = all->all.lost[JSP_LOST_QUICK];
    printf("\n%s expiration%s = %s kept + ", cli_count(a, sum->expirations),
           cli_s(sum->expirations), cli_count(b, sum->kept));
    if (quick)
        printf("%s in quick turns + ", cli_count(a, quick));
    printf("%s lost: ", cli_count(d, sum->lost - quick));
    cli_colour(&c->style, status && !is_short ? CLI_HOT : is_whole ? CLI_GOOD : CLI_WARM);
    if (is_short)
        printf("the file is cut, and has samples for %s of those kept",
               cli_count(d, c->info.weight));
    fputs(is_short   ? ""
          : status   ? "DOES NOT ADD UP"
          : is_whole ? "adds up, and the file holds them all"
          : is_total ? "incomplete, but all that is missing is counted"
                     : "incomplete, and what was counted last is not in it",
          stdout);
    cli_colour(&c->style, CLI_PLAIN);
    putchar('\n');
    uint64_t of_threads = 0;
    for (uint32_t i = 0; i < all->n; i++)
        of_threads += all->threads[i].is.lost;
    if (is_total && is_whole && sum->lost > of_threads) { /* those of a removed file */
        cli_info_extras(&(struct cli_info_sum){ .t = all->all });
    } else if (is_total && !is_whole) {
        cli_info_extras(&(struct cli_info_sum){ .t = all->all });
        puts("The lines of threads are as of the last time that the file took them.");
    }
    uint64_t ended = all->all.lost[JSP_LOST_UNDELIVERED];
    info_unseen(c, all, all->all.lost[JSP_LOST_BLOCKED],
                "threads blocked the profiler's signal, or it was ignored\n"
                "or taken by another handler. Leave the signal (SIGPROF; SIGURG of perf events)\n"
                "unblocked and its handler in place, or choose another one (signo of "
                "jsprof_options).");
    info_unseen(c, all, cli_is_ended(ended, sum->expirations) ? ended : 0,
                "threads ended before their signals came, or slept\n"
                "most of the time. Threads that live longer, as those of a pool do, have more "
                "samples.");
    if (all->all.is.frames_bad)
        printf("%s time%s the host's stack made no sense: an impossible depth, or a frame that can "
               "not\nbe read. The samples lack what it had there.\n",
               cli_count(a, all->all.is.frames_bad), cli_s(all->all.is.frames_bad));
    return status;
}
