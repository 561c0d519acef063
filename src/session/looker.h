/* session/looker.h - one thread of ours that looks at all sampled threads, in place of a
 * timer for each of them.
 *
 * The looker wakes once a period, at a random point of each cell of the elapsed time, and
 * reads the CPU clock of each thread. It sends the sampling signal to a thread that has a
 * processor at that moment. So a second of CPU time gets as many samples as were asked for,
 * while a CPU timer gets no more than the scheduler has ticks; and a program in step with
 * the tick is sampled as evenly as others. A thread that sleeps gets no signal.
 *
 * A thread that waits for a processor was perhaps running until the looker woke up: if it waits
 * for the same one, and has run since the last look, and has not lost its processor meanwhile.
 *
 * On a busy machine the looker itself waits for a processor until the scheduler's tick. A
 * program in step with the tick is always at the same place then, so a late look takes no sample.
 * Instead, there is another look within 20 ms, at a random moment. Besides, there is a balance for
 * each thread: where the number of expirations leaves its CPU time by more than two periods,
 * later samples make up for it, if possible by one period each.
 *
 * Of many threads, those that have not run for some time rest: a look takes a random one of a few
 * groups of them. For the others it is as if the looker was late.
 *
 * When no look has met a thread for some time, the looker sleeps until a timer of the process's
 * CPU time wakes it: an idle program costs nothing. Meanwhile, ticks that meet the threads bring
 * the samples: see looker_deep.c. Of many threads, none must have run.
 *
 * On the wall clock, looker_wall.c does the same, and also takes samples of threads that sleep,
 * without a signal: see sleeper.h. Where a thread has an event that counts its CPU time (see
 * event.h), it leaves the time that the thread runs to that.
 *
 *                       any thread   the looker
 *   jsp_looker_open        yes            -
 *   jsp_looker_start       yes            -
 *   jsp_looker_stop        yes            -
 *   jsp_looker_add         yes            -
 *   jsp_looker_remove      yes            -
 *   jsp_looker_leave  the child of a fork
 *   jsp_looks_put          yes            -
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_LOOKER_H
#define JSP_SESSION_LOOKER_H

#include <pthread.h>
#include <sys/types.h>

#include "sleeper.h"

#define JSP_LOOKER_DEEPLY UINT64_MAX /* see looker_deep */

/* Was the thread on a processor at the last look? */
enum jsp_looked_was { JSP_LOOKED_UNKNOWN, JSP_LOOKED_ON, JSP_LOOKED_OFF };

/* Why a thread that is ready does not run: it was woken and has not run yet; it was stopped while
 * it ran on; or it was stopped, by chance's decision. */
enum jsp_looked_ready { JSP_READY_WOKEN, JSP_READY_STOPPED, JSP_READY_STOOD };

/* A thread that the looker samples. The first four are constant while it is added; ran_ns
 * is the CPU time from which on it is sampled. A look at a thread that has not run needs the fields
 * up to is_known, which are two lines of the cache. */
struct jsp_looked {
    struct jsp_sampled *sampled; /* borrowed */
    pid_t tid;
    clockid_t cpu_clock;
    bool has_event; /* an event of its own counts the time that it runs: see event.h */

    /* Under the looker's lock. */
    struct jsp_looked *next, **link; /* the pointer that leads to it; NULL: it is on no list */
    uint64_t ran_ns;  /* its CPU time at the last look */
    uint64_t points_seen; /* points of the looker at the last look */
    uint64_t waited;  /* points since the last signal */
    bool is_resting;
    enum jsp_looked_was was;
    uint32_t n_still;     /* looks in a row that found that it had not run */
    bool is_short;        /* its last turn was much shorter than a tick */
    bool is_asked, has_timer; /* the looker sleeps deeply: see jsp_sampled_ask */
    bool has_offered;     /* no signal was sent to it since it offered a sample */
    uint64_t rang_ns;     /* its CPU time when the alarm rang last */
    timer_t timer;        /* of its CPU time */

    /* The same, on the wall clock. */
    uint64_t added_ns, seen_ns; /* time when it was added, and of the last look */
    uint64_t n_points; /* since it was added */
    uint64_t again;    /* points since the looker took the last sample */
    uint64_t put_ns;   /* time of that sample, or of the last one that repeats it */
    bool is_known;     /* the looker took the last sample, and the thread has not run since */

    /* On both clocks, of a thread that has run. */
    struct jsp_task_file call; /* in which system call it is; not open if there are too many */
    uint64_t debt;    /* expirations that no signal has reported yet */
    uint64_t sent_ns; /* time of the last signal */
    /* CPU time that passed, less the expirations counted for it, in JSP_LOOKER_WHOLEths of a
     * period; and what samples of ticks have added to those beyond that time, or the opposite */
    int64_t balance, borrowed;

    /* The same, on the wall clock. */
    /* calls that signals had interrupted before, and those that were made again */
    uint64_t n_cut_before, n_again_before;
    uint64_t delay_ns; /* for how long it had waited for a processor, when it was last asked */
    uint32_t n_unslept; /* looks in a row that found it neither asleep nor woken just now */
    int64_t behind;    /* such waits that no sample has, in JSP_LOOKER_WHOLEths of a period */
    int64_t rest;      /* of them those at which it did not run, and that no sample has */
    int64_t slept;     /* those of its last sleep, which are not in `rest`: for the next sleep */
    int64_t stood;     /* those where it was stopped, for the next signal */
    int64_t halted;    /* those while the process was stopped, which are not in `rest` */
    uint64_t ran;      /* points of its last turn, not in `debt`, while it sleeps: for the next */
    struct jsp_rec_state state; /* for the next signal */
    bool is_awake;
    bool is_asleep; /* at the last look */
    bool is_ready; /* the last look found that it ran, or waited for a processor */
    /* borrowed; added to after each signal, and each sample of the looker's own */
    _Atomic uint32_t *news;
    uint64_t slept_ns; /* time when it fell asleep: in the middle between two looks */
    struct jsp_switches switches; /* when it last waited for a processor ... */
    enum jsp_looked_ready ready; /* ... and why it did */
    uint32_t n_woken, n_stopped; /* looks that were certain of it */
};

/* What came of the looks on the wall clock. */
enum jsp_look {
    JSP_LOOK_STILL,    /* it has not run, and its last stack holds */
    JSP_LOOK_WALKED,
    JSP_LOOK_RUNS,     /* it has a processor: a signal */
    JSP_LOOK_WAITS,    /* it waits for one: a signal */
    JSP_LOOK_WAKES,    /* the same, but perhaps after a sleep: the next look counts its time */
    JSP_LOOK_MOVED,    /* it moved during the walk: the next look counts its time */
    JSP_LOOK_GONE,
    JSP_LOOK_HOST,     /* it sleeps, and gets a signal: see enum jsp_sleep_walk */
    JSP_LOOK_ELSEWHERE,
    JSP_LOOK_POINTER,
    JSP_LOOK_CUT,      /* not a look: a system call that a signal interrupted after all */
    JSP_LOOK_AGAIN,    /* the same, but it was made again: see again.h */
    JSP_LOOK_PROMPT,   /* not a look: a sample taken where the signal came: see delay.h */
    JSP_N_LOOKS,
};

enum {
    JSP_LOOKER_GROUPS = 32, /* a power of two */
    JSP_LOOKER_EXTRA = 16,  /* looks in place of late ones, at most */
    JSP_LOOKER_MANY = 64,   /* so many threads, or more, may rest */
    JSP_LOOKER_AWAKE = 16,  /* stay awake for so many periods after a thread has run */
};

struct jsp_looker {
    /* Constant while it runs. */
    uint64_t period_ns, tick_ns; /* the scheduler's tick */
    int signo;
    pid_t pid;
    pthread_t thread;
    uint32_t n_most; /* threads whose files are kept open */
    struct jsp_task_file folder;
    struct jsp_sleeper *sleeper; /* borrowed; NULL: it counts CPU time */
    struct jsp_ask *ask;         /* borrowed */

    pthread_mutex_t lock;

    /* Under `lock`. */
    bool runs, quit;
    struct jsp_looked *threads;
    struct jsp_looked *resting[JSP_LOOKER_GROUPS];
    uint32_t n;
    uint64_t points; /* since it started */
    struct jsp_tick tick; /* of the elapsed time, for all threads */
    uint64_t random;      /* never 0 */
    int64_t carry;        /* sum of the balances of threads that have left, less what was counted
                           * or repaid for them */
    uint64_t looked_ns;   /* time of the last look */
    uint64_t due_ns;      /* when the next one is due */
    uint32_t n_late;      /* late looks in a row */
    uint32_t n_extra;     /* looks that are due in place of late ones, and when */
    uint64_t extra[JSP_LOOKER_EXTRA];
    uint64_t ran_ns;      /* time of the last look that found a thread that ran, or had run */
    bool asks;            /* the threads are asked for samples: it sleeps deeply */
    uint32_t n_untimed;   /* threads without a timer for that */
    uint32_t n_moments;   /* short looks for the sake of a handler, in a row */
    bool has_rung;        /* a thread has run since the alarm before the last one */
    uint64_t awake_ns;    /* it does not sleep deeply before */
    uint64_t looks[JSP_N_LOOKS];

    /* Used by the looker only. */
    pid_t tid;
    uint64_t came_ns; /* when it got its processor for this look; 0: it has not asked yet */
    bool has_taken;  /* at this look: one of the threads was interrupted by us */
    bool has_met;    /* at this look: perhaps one of them ran at this moment */
    uint64_t delay_ns, asked_ns; /* for how long it had waited for a processor, and when it asked */
    timer_t alarm; /* of the process's CPU time */
    bool has_alarm;
    bool is_deep; /* it sleeps until the alarm rings */
};

/* One look at all threads. */
struct jsp_looker_moment {
    uint64_t now;
    uint64_t since; /* elapsed time since the last look */
    uint32_t points; /* sampling points since then; 0: a look in place of a late one */
    /* Now is one of them, as random as it was drawn. Otherwise the scheduler has chosen this
     * moment, or the alarm. */
    bool is_fair;
    /* On the wall clock: the process was stopped since the last look, or the machine. */
    bool is_halted;
    /* It is the first tick that has met a thread since the looker fell asleep deeply, and so
     * many threads have run since then. Otherwise 0. */
    uint32_t n_met;
};

/* Prepare a looker that does not run. */
void jsp_looker_open(struct jsp_looker *looker);

/* Start it, on the wall clock if it has a `sleeper`. Return 0, or a negative errno: there is no
 * /proc, the system refuses to send directed signals, or there is no thread left. */
struct jsp_looker_setup {
    uint64_t period_ns;
    int signo;
    struct jsp_sleeper *sleeper; /* borrowed; NULL: count CPU time */
    struct jsp_ask *ask; /* borrowed; the drain learns that a thread has run */
};
int jsp_looker_start(struct jsp_looker *looker, const struct jsp_looker_setup *setup);

/* Set all fields for a start, without a thread: for a simulator, as are the next two. */
void jsp_looker_begin(struct jsp_looker *looker, const struct jsp_looker_setup *setup);

/* Make the alarm, in the thread whose number `tid` has. */
void jsp_looker_awake(struct jsp_looker *looker);

/* Look once, if something is due, and sleep. The caller holds `lock`, which is free meanwhile, and
 * says what the last call returned: true if the alarm ended the sleep. */
bool jsp_looker_turn(struct jsp_looker *looker, bool is_alarm);

/* End the looker, which samples no thread any more. */
void jsp_looker_stop(struct jsp_looker *looker);

/* Sample this thread from now on. */
void jsp_looker_add(struct jsp_looker *looker, struct jsp_looked *t);

/* Send the thread no further signal. Return the expirations that no signal has reported. */
uint64_t jsp_looker_remove(struct jsp_looker *looker, struct jsp_looked *t);

/* Format what came of the looks, from this count on. */
enum { JSP_LOOKS_TEXT = 384 };
void jsp_looks_put(char to[JSP_LOOKS_TEXT], const uint64_t looks[JSP_N_LOOKS],
                   enum jsp_look from);

/* -- looked.c */

/* Note that the drain is to read the thread. */
void jsp_looked_note(const struct jsp_looked *t);

/* Send the sampling signal to the thread, with its number and the time. Return 0 or a negative
 * errno. */
int jsp_looker_queue(const struct jsp_looker *l, pid_t tid, int signo, uint64_t number);

/* Return how many of the moment's points met the thread, which had a processor for `ran_ns`
 * since the last look: on average its share, in whole numbers. */
uint64_t jsp_looker_share(struct jsp_looker *l, const struct jsp_looker_moment *m,
                          uint64_t ran_ns);

/* Return the points of a thread that ran for `ran_ns`, given those that were found: change
 * their number so that the sum stays near the CPU time. */
uint64_t jsp_looker_balance(const struct jsp_looker *l, struct jsp_looked *t, uint64_t ran_ns,
                            uint64_t points);

/* Return the points of a thread that one point met, and whose balance has its CPU time: 1,
 * none if it had too many, more if it had too few. */
uint64_t jsp_looker_meet(const struct jsp_looker *l, struct jsp_looked *t);

/* Send a signal for the thread's debt, unless the last sample asked for a rest. Send one that
 * nobody took again after some time. */
void jsp_looker_report(const struct jsp_looker *l, struct jsp_looked *t, uint64_t now);

/* Return how many points this thread stands for: a tick has met one of `n_met` threads while
 * the looker slept, and this one has run for `ran_ns` since it woke up. */
uint64_t jsp_looker_tick(struct jsp_looker *l, struct jsp_looked *t, uint32_t n_met,
                         uint64_t ran_ns);

/* Return how many points a thread with turns much shorter than a tick stands for: its balance
 * in periods, whose fraction makes one of them at random. */
uint64_t jsp_looker_turns(struct jsp_looker *l, struct jsp_looked *t);

/* A thread that leaves has had more expirations than its time, or fewer, by chance. Those that are
 * missing are counted as it leaves. If only that was done, the sum over many threads would exceed
 * their time by the square root of their number. So when all of them together had some too many, a
 * point that meets another thread is left out. Return how many of the points remain. */
uint64_t jsp_looker_repay(struct jsp_looker *l, uint64_t points);

/* The thread does not run. Did we take its processor for this look? JSP_LOOKER_PERHAPS: the kernel
 * does not say. */
enum jsp_looker_took { JSP_LOOKER_NOT, JSP_LOOKER_TOOK, JSP_LOOKER_PERHAPS };
enum jsp_looker_took jsp_looker_took(struct jsp_looker *l, const struct jsp_looked *t);

/* The thread ran just now. Return true if it is on its way into a sleep: in a virtual machine, the
 * kernel may take 20 us for the sleep's timer. A signal would be an interruption, so the thread
 * owes this point until the next look that meets it. */
bool jsp_looker_dozes(const struct jsp_looker *l, struct jsp_looked *t);

/* Add the debt to the expirations of a signal that is still under way. Return false if there
 * is none. */
bool jsp_looker_owe_more(struct jsp_looked *t);

/* Return a length of time in JSP_LOOKER_WHOLEths of a period. */
int64_t jsp_looker_periods(const struct jsp_looker *l, uint64_t ns);
enum { JSP_LOOKER_WHOLE = 1 << 16 };

/* -- looker_wall.c, for looker.c */

/* Look at a thread. Return true if it has to be looked at again soon. */
bool jsp_looker_wall(struct jsp_looker *l, struct jsp_looked *t,
                     const struct jsp_looker_moment *m);

/* Store the last samples of a thread that leaves. Return the points of its time that no sample
 * has, below 0 if there were too many. */
int64_t jsp_looker_wall_leave(struct jsp_looker *l, struct jsp_looked *t);

/* -- looker_deep.c, for looker.c */

/* Make the thread's timer, unless there are too many threads. A sandbox may forbid that later. */
void jsp_deep_open(struct jsp_looker *l, struct jsp_looked *t);

/* Delete the thread's timer, if it has one. */
void jsp_deep_close(struct jsp_looker *l, struct jsp_looked *t);

/* Return true if the threads can be asked for samples while the looker sleeps deeply. */
bool jsp_deep_may(const struct jsp_looker *l);

/* Ask all threads for samples. Return false if one refuses, or rests. */
bool jsp_deep_begin(struct jsp_looker *l);

/* Ask this thread, too. Return false if it has no timer, or refuses. */
bool jsp_deep_ask(struct jsp_looker *l, struct jsp_looked *t);

/* The looker has woken up. Return for how long it is to sleep on, in ns or JSP_LOOKER_DEEPLY,
 * because there is no sample; 0: there is one, or it is to look itself. */
uint64_t jsp_deep_goes_on(struct jsp_looker *l, bool is_alarm);

/* Ask the thread no longer, and count the sample that it has offered. Return what it did. */
enum jsp_deep {
    JSP_DEEP_STILL, /* there is no sample */
    JSP_DEEP_RAN,   /* its handler is not done */
    JSP_DEEP_MET,
};
enum jsp_deep jsp_deep_end(struct jsp_looker *l, struct jsp_looked *t, enum jsp_put_as as);

/* The thread leaves. Its last offer has the time that no sample has. */
void jsp_deep_settle(const struct jsp_looker *l, struct jsp_looked *t);

/* In the child of a fork: close the parent's descriptors. */
void jsp_looker_leave(struct jsp_looker *looker);

#endif
