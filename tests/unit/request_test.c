/* request_test.c - src/control/request.c: the answer that ends a recording has every loss.
 *
 * SPDX-License-Identifier: MIT
 */
#include "control/request.h"

#include <stddef.h>
#include <string.h>

#include "base/losses.h"
#include "test.h"

#define AT(CAUSE, cause, asked, name, meaning) offsetof(jsprof_stats, lost_##cause),
static const size_t at[JSP_N_LOSSES] = { JSP_LOSSES(AT) };

static void set(jsprof_stats *s, int cause, uint64_t n)
{
    memcpy((char *)s + at[cause], &n, sizeof n);
}

TEST(the_answer_counts_a_loss_of_each_cause)
{
    char line[JSP_REQUEST_DONE], want[JSP_REQUEST_DONE];
    for (int cause = 0; cause < JSP_N_LOSSES; cause++) {
        jsprof_stats s = { .size = sizeof s, .expirations = 9, .kept = 2, .samples = 1,
                           .handler_ns = 5 };
        set(&s, cause, 7);
        bool quick = cause == JSP_LOST_QUICK;
        snprintf(want, sizeof want,
                 "done expirations=9 kept=2 lost=%d quick=%d samples=1 handler_ns=5\n",
                 quick ? 0 : 7, quick ? 7 : 0);
        if (!CHECK(strcmp(jsp_request_done(line, &s), want) == 0))
            printf("# %s: %s", jsp_losses[cause].key, line);
    }
}

TEST(the_answer_has_room_for_the_largest_numbers)
{
    char line[JSP_REQUEST_DONE];
    jsprof_stats s;
    memset(&s, 0xff, sizeof s);
    for (int cause = 0; cause < JSP_N_LOSSES; cause++)
        set(&s, cause, cause == JSP_LOST_RING ? UINT64_MAX : 0);
    size_t n = strlen(jsp_request_done(line, &s));
    CHECK(n < sizeof line - 1);
    CHECK_EQ(line[n - 1], '\n');
}

TEST_MAIN()
