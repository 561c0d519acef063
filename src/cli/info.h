/* cli/info.h - the parts of `jsprof info`.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_INFO_H
#define JSP_CLI_INFO_H

#include "base/clocks.h"
#include "base/losses.h"
#include "base/states.h"
#include "table.h"

/* What the recorder counted of a thread. */
struct cli_account {
    jsprof_read_account is;
    uint64_t lost[JSP_N_LOSSES], clock_ns[JSP_N_CLOCKS];
};

/* Of all threads, and of the session. */
struct cli_accounts {
    struct cli_account *threads; /* owned */
    uint32_t n;
    jsprof_read_thread *sampled; /* owned; the threads with samples */
    uint64_t n_sampled;
    struct cli_account all;
    jsprof_read_session session;
};

/* Read them. CLI_OK; or CLI_FAILED, which is reported. */
int cli_accounts_open(struct cli_accounts *a, const struct cli_capture *c);

/* Free what cli_accounts_open read. */
void cli_accounts_close(struct cli_accounts *a);

/* Add the expirations of a thread by state. */
void cli_info_states_add(uint64_t by_state[JSP_N_STATES], const jsprof_read_thread *t);

/* Lines on the whole capture. A line without a value is not printed. */
cli_line cli_info_processes, cli_info_recorder, cli_info_recorded, cli_info_clock;
cli_line cli_info_samples, cli_info_allocations, cli_info_forks, cli_info_stops, cli_info_bad;
cli_line cli_info_names, cli_info_labels, cli_info_marks, cli_info_form, cli_info_states;
cli_line cli_info_tasks;

/* Store what the capture has of tasks. Return false if it has none. */
bool cli_info_tasks_of(const struct cli_capture *c, jsprof_read_tasks_sum *out);

/* Print how much of the time was spent in each state: "40.0% running, ...", and end the line. */
void cli_info_by_state(const uint64_t by_state[JSP_N_STATES]);

/* Return how the samples are stored, one of the forms; these end with NULL. */
extern const char *const cli_info_forms[];
const char *cli_info_form_of(const struct cli_capture *c);

/* A thread may attach and detach many times; each time has an account of its own. */
struct cli_info_sum {
    struct cli_account t;
    uint32_t first, times;
};

/* Sum up the accounts of each thread and name, in the order in which they first occur. NULL:
 * no memory. */
struct cli_info_sum *cli_info_sums(const struct cli_accounts *a, uint32_t *n);

/* Print how often the thread attached and what it lost, where that is of interest. */
void cli_info_extras(const struct cli_info_sum *sum);

/* Check that the counts of a thread add up. CLI_OK, or CLI_FAILED, which is reported. */
int cli_info_adds_up(const struct cli_capture *c, const struct cli_accounts *all,
                     const struct cli_account *t);

/* Check that every missing sample is counted, and print the result. CLI_OK or CLI_FAILED. */
int cli_info_balance(const struct cli_capture *c, const struct cli_accounts *all);

#endif
