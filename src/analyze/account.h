/* analyze/account.h - what a recording kept and lost: the file jsprof/losses.
 *
 * SPDX-License-Identifier: MIT
 *
 * Text lines, rewritten as things change; for each key the last whole line counts,
 * so a capture that was killed says how far it came. Unknown words are skipped. One line, of
 * all threads together, may be newer than others that come later in the file.
 * One thread.
 */
#ifndef JSP_ANALYZE_ACCOUNT_H
#define JSP_ANALYZE_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct jsp_account_session {
    bool present;
    char state[16]; /* "running", "stopped", "final" */
    char clock[16]; /* "cpu", "wall" */
    uint64_t time, hz, samples, labels, label_bytes, labels_lost, labels_cut, marks_lost;
    uint64_t addresses_missed;
    int64_t write_error;
};

struct jsp_account_thread {
    uint64_t id;
    int32_t pid, tid;
    char name[64];
    uint64_t expirations, kept, samples;
    uint64_t lost_ring, lost_paused, lost_late, lost_write, lost_stack;
    uint64_t lost_blocked, lost_undelivered; /* 0 where an older library wrote */
    uint64_t frames_cut, frames_bad, underflows;
    /* Walks of the native stack, by how they ended; all 0: not told. */
    uint64_t stop_end, stop_full, stop_no_table, stop_stack, stop_unreadable, stop_rule;
    uint64_t cpu_ns, wall_ns, handler_ns;

    /* A tid may serve several threads in turn, and the samples of a file tell them
     * not apart. After sealing, the newest of each tid has the sums of them all: */
    bool is_newest;
    uint64_t kept_of_tid; /* as the lines say */
    uint64_t unseen_of_tid; /* expirations that passed and are in no sample, but for pauses */
    uint64_t in_file;     /* as the file's samples say; whoever counts those adds */
};

/* All threads together, in a place of the file that was reserved for it: it is written last,
 * also where the file took nothing else any more. */
struct jsp_account_total {
    bool present;
    char state[16]; /* "open" until something could not be written, or until the end */
    uint64_t time;
    int64_t write_error;
    struct jsp_account_thread sum; /* its counts */
};

struct jsp_account {
    struct jsp_account_session session;
    struct jsp_account_total total;
    bool is_ended; /* the last chunk is there */
    struct jsp_account_thread *threads; /* in order of first mention */
    uint32_t n_threads, capacity;
    struct jsp_hash by_id, by_tid;
};

int jsp_account_init(struct jsp_account *a); /* -ENOMEM */

/* Take the whole lines of one chunk, of this process. Returns the count of lines that could not be
 * read, or -ENOMEM. */
struct jsp_account_text {
    const char *at;
    size_t len;
    int32_t pid;
};
int jsp_account_read(struct jsp_account *a, struct jsp_account_text text);
int jsp_account_seal(struct jsp_account *a); /* after the last chunk; -ENOMEM */
void jsp_account_free(struct jsp_account *a);

/* The newest thread of this tid in the process, NULL: none. After sealing. */
struct jsp_account_thread *jsp_account_of_tid(const struct jsp_account *a, int32_t pid,
                                              int32_t tid);

/* What passed on the thread's clock and is in no sample, though nobody asked for that. */
uint64_t jsp_account_unseen(const struct jsp_account_thread *t);

/* What the recording came to, as far as the file knows. After sealing. */
struct jsp_account_verdict {
    const char *state;             /* "running", "stopped", "final"; "": it does not say */
    int64_t write_error;           /* what could not be written, and why: a positive errno */
    bool is_whole;                 /* the file has its end and all that comes before */
    bool is_total;                 /* from its reserved place; else the sum of threads' lines */
    struct jsp_account_thread sum; /* counts of all threads */
};
void jsp_account_verdict(const struct jsp_account *a, struct jsp_account_verdict *out);

/* Everything that was lost, by all causes. */
uint64_t jsp_account_lost(const struct jsp_account_thread *t);

#endif
