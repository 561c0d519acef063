/* unit/fold_test.c - src/session/fold.c: equal samples become one row, and no sample is lost where
 * rows are full or are dropped.
 *
 * SPDX-License-Identifier: MIT
 */
#include "session/fold.h"

#include <errno.h>

#include "test.h"

static struct jsp_fold_row sample(int32_t tid, uint32_t node, uint64_t weight)
{
    return (struct jsp_fold_row){ .weight = weight, .cpu_ns = 10 * weight, .cut = 1,
                                  .node = node, .tid = tid };
}

static int add(struct jsp_fold *f, struct jsp_fold_row row, bool *is_new)
{
    return jsp_fold_add(f, &row, row.node, is_new);
}

/* Add a row that there is no such row of yet, or that there is one of. */
static void adds(struct jsp_fold *f, struct jsp_fold_row row, bool is_wanted_new)
{
    bool is_new = !is_wanted_new;
    CHECK_EQ(add(f, row, &is_new), 0);
    CHECK_EQ(is_new, is_wanted_new);
}

TEST(equal_samples_are_one_row_and_others_are_not)
{
    struct jsp_fold *f = jsp_fold_open();
    struct jsp_fold_row asleep = sample(1, 7, 4);
    asleep.state = (struct jsp_read_state){ .state = JSP_STATE_ASLEEP, .call = 3, .asleep_ns = 5 };
    adds(f, sample(1, 7, 2), true);
    adds(f, sample(1, 7, 3), false);
    adds(f, sample(2, 7, 1), true);
    adds(f, asleep, true);
    asleep.state.asleep_ns = 9; /* it sleeps on */
    adds(f, asleep, false);
    struct jsp_fold_row labelled = sample(1, 7, 1);
    labelled.labels = 2;
    adds(f, labelled, true);
    CHECK_EQ(f->n, 4);
    CHECK_EQ(f->rows[0].weight, 5);
    CHECK_EQ(f->rows[0].cpu_ns, 50);
    CHECK_EQ(f->rows[0].cut, 2);
    CHECK_EQ(f->rows[2].weight, 8);
    CHECK_EQ(f->rows[2].state.asleep_ns, 9);
    CHECK_EQ(f->last_ns, 7);
    jsp_fold_close(f);
}

TEST(full_table_refuses_new_rows_and_takes_old_ones)
{
    struct jsp_fold *f = jsp_fold_open();
    bool is_new;
    for (uint32_t i = 0; i < JSP_FOLD_ROWS; i++)
        CHECK_EQ(add(f, sample(1, i + 1, 1), &is_new), 0);
    CHECK_EQ(add(f, sample(1, JSP_FOLD_ROWS + 1, 1), &is_new), -ENOSPC);
    adds(f, sample(1, JSP_FOLD_ROWS, 1), false);
    CHECK_EQ(f->n, JSP_FOLD_ROWS);
    CHECK_EQ(f->rows[JSP_FOLD_ROWS - 1].weight, 2);
    jsp_fold_close(f);
}

TEST(sorted_rows_are_in_the_order_of_their_nodes_and_are_found)
{
    struct jsp_fold *f = jsp_fold_open();
    bool is_new;
    for (uint32_t i = 1; i <= 100; i++)
        add(f, sample(1 + (int32_t)(i % 2), 37 * i % 101, i), &is_new);
    jsp_fold_sort(f);
    CHECK_EQ(f->n, 100);
    for (uint32_t i = 1; i < f->n; i++)
        CHECK(f->rows[i].tid > f->rows[i - 1].tid ||
              (f->rows[i].tid == f->rows[i - 1].tid && f->rows[i].node > f->rows[i - 1].node));
    adds(f, sample(2, 37, 1000), false); /* i was 1 */
    uint64_t weight = 0;
    for (uint32_t i = 0; i < f->n; i++)
        weight += f->rows[i].weight;
    CHECK_EQ(weight, 5050 + 1000);
    jsp_fold_close(f);
}

TEST(rows_that_stay_are_found_after_a_drop)
{
    struct jsp_fold *f = jsp_fold_open();
    bool is_new;
    for (uint32_t i = 1; i <= 100; i++)
        add(f, sample(1, i, i), &is_new);
    jsp_fold_drop(f, 60);
    CHECK_EQ(f->n, 40);
    adds(f, sample(1, 100, 1), false);
    CHECK_EQ(f->rows[39].weight, 101);
    adds(f, sample(1, 60, 1), true);
    jsp_fold_drop(f, f->n);
    CHECK_EQ(f->n, 0);
    jsp_fold_close(f);
}

TEST_MAIN()
