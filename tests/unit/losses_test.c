/* unit/losses_test.c - src/session/losses.c and src/analyze/account.c: what the library writes
 * of its losses reads back as it was, and a line that is none is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/losses.h"

#include <errno.h>

#include "analyze/account.h"
#include "test.h"

static char line[JSP_EMBEDDED_ACCOUNT];
static struct jsp_account account;

/* How many lines could not be read. */
static int read_back(size_t n)
{
    memset(&account, 0, sizeof account);
    if (!CHECK_EQ(jsp_account_init(&account), 0))
        return -1;
    return jsp_account_read(&account, (struct jsp_account_text){ line, n, 7 });
}

static const uint64_t most = 9999999999999999999u; /* 19 digits: what a reader takes */

static struct jsp_counts counts_from(uint64_t first)
{
    struct jsp_counts c = { .expirations = first };
    for (int i = 0; i < JSP_N_LOSSES; i++)
        c.lost[i] = ++first;
    for (int i = 0; i < JSP_N_STOPS; i++)
        c.stops[i] = ++first;
    c.frames_cut = ++first;
    c.frames_bad = ++first;
    c.underflows = ++first;
    c.handler_ns = ++first;
    return c;
}

static void one_total(uint64_t first)
{
    struct jsp_counts c = counts_from(first);
    struct jsp_losses_total total = { "final", -ENOSPC, &c, { first, 2, 3, 4 } };
    size_t n = jsp_losses_total(line, &total);
    const struct jsp_account_thread *sum = &account.total.sum;
    CHECK(n > 0 && line[n - 1] == '\n');
    CHECK_EQ(read_back(n), 0);
    CHECK(account.total.present);
    CHECK_STR(account.total.state, "final");
    CHECK_EQ(account.total.write_error, ENOSPC);
    CHECK(sum->expirations == first && sum->kept == first && sum->samples == 2);
    for (int i = 0; i < JSP_N_LOSSES; i++)
        CHECK(sum->lost[i] == (i == JSP_LOST_WRITE ? 3 : i == JSP_LOST_FOLD ? 4 : c.lost[i]));
    CHECK(sum->frames_cut == c.frames_cut && sum->frames_bad == c.frames_bad &&
          sum->underflows == c.underflows && sum->handler_ns == c.handler_ns);
    CHECK(sum->stop_end == c.stops[JSP_STOP_END] && sum->stop_full == c.stops[JSP_STOP_FULL] &&
          sum->stop_no_table == c.stops[JSP_STOP_NO_TABLE] &&
          sum->stop_stack == c.stops[JSP_STOP_STACK] &&
          sum->stop_unreadable == c.stops[JSP_STOP_UNREADABLE] &&
          sum->stop_rule == c.stops[JSP_STOP_RULE]);
    jsp_account_free(&account);
}

TEST(the_line_of_a_thread_reads_back)
{
    static struct jsp_thread_link link;
    static struct jsp_thread t = { .link = &link, .task_counts = { 1, 2, 3, 4, 5 } };
    const struct jsp_tally tally = { .kept = 6 };
    const struct jsp_account_thread *is;
    t.counts.tags = (struct jsp_tags_counts){ 7, 8, 9, 10 };
    CHECK_EQ(read_back(jsp_losses_thread(line, &t, &tally)), 0);
    is = account.threads;
    CHECK(is->tasks_lost == 1 && is->tasks_unmatched == 2 && is->tasks_left == 3 &&
          is->tasks_deep == 4 && is->tasks_foreign == 5 && is->kept == 6);
    CHECK(is->tags_full == 7 && is->tags_cut == 8 && is->tags_foreign == 9 &&
          is->tags_unmatched == 10);
    jsp_account_free(&account);
}

TEST(a_total_reads_back)
{
    one_total(0);
    one_total(most - 100);
}

TEST(a_line_that_is_no_account_is_refused)
{
    static const char *const bad[] = {
        "thread id=x tid=1 kept=1\n", "thread id=1 kept=99999999999999999999\n",
        "total state=final kept=1x\n", "total kept\n", "session hz=\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(line, sizeof line, "%s", bad[i]);
        if (!CHECK_EQ(read_back(strlen(line)), 1))
            printf("# %s", bad[i]);
        jsp_account_free(&account);
    }
    CHECK_EQ(read_back((size_t)snprintf(line, sizeof line, "session state=fin")), 1);
    CHECK(!account.session.present); /* a line without its end does not count */
    jsp_account_free(&account);
}

/* A cause that a sum forgets would be missing from the control socket's answer. */
TEST(each_cause_is_in_the_sum_of_the_losses)
{
    jsprof_stats stats = { .size = sizeof stats, .expirations = 1, .kept = 2, .samples = 4 };
    uint64_t lost[JSP_N_LOSSES] = { 0 }, all = 0;
    CHECK_EQ(jsp_losses_of_stats(&stats), 0);
#define ONE(CAUSE, cause, asked, name, meaning)                                \
    stats.lost_##cause = lost[JSP_LOST_##CAUSE] = 1 + (UINT64_C(1) << (8 + JSP_LOST_##CAUSE)); \
    all += stats.lost_##cause;                                                 \
    if (!CHECK_EQ(jsp_losses_of_stats(&stats), all))                           \
        printf("# without lost_" #cause "\n");
    JSP_LOSSES(ONE)
    CHECK_EQ(jsp_losses_sum(lost), all);
}

TEST_MAIN()
