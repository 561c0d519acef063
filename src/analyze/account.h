/* analyze/account.h - the account of a recording: what it kept and lost (jsprof/losses).
 *
 * Text lines, rewritten as things change; for each key the last whole line counts, so the
 * file of a killed program has an account of its last flush. Unknown words are skipped.
 * The line for all threads together may be newer than lines after it in the file. One
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ACCOUNT_H
#define JSP_ANALYZE_ACCOUNT_H

#include "base/hash.h"
#include "capture/embedded.h"

struct jsp_account {
    struct jsp_account_session session;
    struct jsp_account_total total;
    bool is_ended; /* the file has its last chunk */
    struct jsp_account_thread *threads; /* in order of first mention */
    uint32_t n_threads, capacity;
    struct jsp_hash by_id, by_tid;
};

/* Lay out an empty account. Return 0 or -ENOMEM. */
int jsp_account_init(struct jsp_account *a);

/* Take the whole lines of one chunk of this process. Return the number of lines that
 * could not be read, or -ENOMEM. */
struct jsp_account_text {
    const char *at;
    size_t len;
    int32_t pid;
};
int jsp_account_read(struct jsp_account *a, struct jsp_account_text text);

/* Call this after the last chunk. Return 0 or -ENOMEM. */
int jsp_account_seal(struct jsp_account *a);

/* Free the account. */
void jsp_account_free(struct jsp_account *a);

/* Return the newest thread of this tid in the process, or NULL. Call it after sealing. */
struct jsp_account_thread *jsp_account_of_tid(const struct jsp_account *a, int32_t pid,
                                              int32_t tid);

/* Return the expirations that passed on the thread's clock and are in no sample, except
 * pauses, which the host asked for. */
uint64_t jsp_account_unseen(const struct jsp_account_thread *t);

/* The result of the recording, as far as the file contains it. Call it after sealing. */
struct jsp_account_verdict {
    const char *state;             /* "running", "stopped", "final"; "": unknown */
    int64_t write_error;           /* the positive errno of a failed write; 0: none */
    bool is_whole;                 /* the file has its end and everything before it */
    bool is_total; /* from the reserved place; otherwise the sum of the threads' lines */
    struct jsp_account_thread sum; /* counts of all threads */
};
void jsp_account_verdict(const struct jsp_account *a, struct jsp_account_verdict *out);

/* Return all expirations that were lost, for any reason. */
uint64_t jsp_account_lost(const struct jsp_account_thread *t);

#endif
