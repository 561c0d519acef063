/* sim.h - a simulated machine on which the looker runs as it is.
 *
 * It has processors with ticks, a scheduler, threads with scripts, and signals that take their
 * time. A test writes a script for each kind of thread: a function that returns what it does
 * next. It starts the threads, lets the time pass, and compares the weights of the samples with the
 * time that each function had, which the machine knows exactly. Nothing here is random but by
 * the seed, and nothing reads a real clock.
 *
 * The looker's signal needs 2 to 30 us to another processor, unless the thread's system call ends
 * before. The handler is a model of src/sigsafe/sample.c and delay.c: see sim_handler.c.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_TEST_SIM_H
#define JSP_TEST_SIM_H

#include "session/looker.h"
#include "sigsafe/delay.h"

enum {
    SIM_CPUS = 4,
    SIM_FUNCTIONS = 8,
    SIM_RING = 1 << 10,   /* words */
    SIM_TICK_NS = 4000000,
    SIM_SLICE_NS = 3000000,
    SIM_GRAIN_NS = 700000, /* a thread that has run for less is not interrupted by one that wakes */
    /* of an interrupt to another processor: mostly in between, 1 of 8 anywhere */
    SIM_WAY_LEAST_NS = 2000, SIM_WAY_FROM_NS = 5000, SIM_WAY_TO_NS = 9000, SIM_WAY_MOST_NS = 30000,
    SIM_QUOTA_PERIOD_NS = 100000000,
};
#define SIM_US UINT64_C(1000)
#define SIM_MS UINT64_C(1000000)
#define SIM_S UINT64_C(1000000000)

enum sim_does {
    SIM_RUN,   /* user code */
    SIM_CALL,  /* a system call that does not sleep */
    SIM_SLEEP, /* one that does; its time is elapsed time */
    SIM_PAUSED,  /* user code between jsprof_thread_pause and _resume */
    SIM_BLOCKED, /* user code, while the host blocks the signal */
    SIM_FORKS,   /* user code, while the library itself blocks it, as around fork */
    SIM_MOVES,   /* to the next processor; it takes no time */
    SIM_EXIT,
};

struct sim_step {
    enum sim_does does;
    uint32_t function; /* below SIM_FUNCTIONS */
    uint64_t ns;
};

struct sim_thread;
typedef struct sim_step sim_script(struct sim_thread *t);

enum sim_is { SIM_READY, SIM_ON, SIM_ASLEEP, SIM_LEAVES, SIM_GONE };
enum sim_signal { SIM_LOOK = 1, SIM_LOCAL = 2, SIM_DEEP = 4 };

struct sim_thread {
    /* By the test. */
    sim_script *script;
    uint64_t n_step;   /* steps that the script has returned: for its use */
    uint64_t data;     /* for its use */
    bool is_other;     /* of another program: not sampled */
    int only;          /* the one processor on which it may run; -1: any */

    /* By the machine. */
    pid_t tid;
    enum sim_is is;
    int cpu;
    struct sim_step step;
    uint64_t left_ns;  /* of the step */
    uint64_t since;    /* when it got its processor, fell asleep, or became ready */
    uint64_t given;    /* when it got its processor: `since` moves on with the account */
    uint64_t slice_ns; /* its CPU time when its slice began */
    uint64_t cpu_ns, waited_ns, until_ns, naps, stops;
    uint64_t serial;   /* of the event that ends its step */
    bool is_woken;     /* it is in a queue because it woke up */
    unsigned signals;  /* enum sim_signal: they have come, and it has not taken them */
    unsigned under_way; /* sent from another processor */
    uint64_t deep_at;  /* CPU time at which its timer expires; 0: never */
    uint64_t n_cut;    /* sleeps that a signal met */
    uint64_t n_events; /* points of its event */
    struct sim_thread *next; /* in a queue, or in the list of those that leave */
    struct jsp_sampled *sampled;
    struct jsp_looked looked;
    _Atomic uint32_t news;
    uint64_t *words;
    uint32_t last, offered; /* functions of the last sample */
    uint64_t begun_ns, undelivered;
    uint64_t checked_ns; /* its CPU time at the last check that the looker knew */
    uint64_t popped;   /* points of the records that were read */
    uint64_t waited;   /* of them those for waits for a processor */
    uint64_t stopped;  /* of them those in which the process was stopped */

    /* Truth and samples. */
    uint64_t true_ns[SIM_FUNCTIONS], got[SIM_FUNCTIONS], squares[SIM_FUNCTIONS];
};

struct sim_setup {
    uint64_t seed;
    int cpus;
    uint32_t hz;
    bool is_wall;     /* otherwise it counts CPU time */
    bool is_delayed;  /* the handler puts the sample off */
    bool has_events;  /* wall clock: an event of each thread counts the time that it runs */
    uint64_t quota_ns; /* in each SIM_QUOTA_PERIOD_NS; 0: none */
    uint64_t halt_at, halt_until; /* the process is stopped; 0: never */
    uint64_t halt_each; /* and again after so long; 0: once */
    uint32_t late_of_1000; /* wakes of the looker that wait for a tick if its processor is busy */
    uint64_t drain_ns; /* the rings are read so often; 0: after each look */
};

/* Begin a machine. */
void sim_open(const struct sim_setup *setup);

/* Add a thread, which is ready. Return it; the machine owns it. */
struct sim_thread *sim_thread(sim_script *script);
struct sim_thread *sim_other(sim_script *script); /* of another program */

/* Let so much time pass. Each look checks the account of each thread: see sim_check. */
void sim_pass(uint64_t ns);

/* End the looker: what it owes is undelivered. Sum up all threads, those that are gone, too. */
struct sim_sum {
    uint64_t true_ns[SIM_FUNCTIONS], got[SIM_FUNCTIONS], squares[SIM_FUNCTIONS];
    uint64_t all_ns, all_got, all_squares, undelivered, n_cut, n_looks, n_bad;
    uint64_t lost[JSP_N_LOSSES];
    uint64_t waited, true_waited_ns; /* for a processor: points of samples, and the time */
    uint64_t stopped;
};
struct sim_sum sim_close(void);

/* Return the share of a function in per cent: the true one, and that of the samples. */
double sim_truth(const struct sim_sum *s, uint32_t function);
double sim_share(const struct sim_sum *s, uint32_t function);

/* Return by how many points chance may move a share, with weights as they were: 4.42 standard
 * deviations, which chance exceeds in fewer than 1 of 100,000 runs. */
double sim_chance(const struct sim_sum *s, uint32_t function);

/* Return a random number below `n`, of the machine. */
uint64_t sim_random(uint64_t n);

/* -- Between the files sim*.c -------------------------------------------------- */

struct sim {
    struct sim_setup setup;
    uint64_t now, random, n_looks, n_bad;
    uint64_t end;       /* the looker sleeps no longer */
    uint64_t n_serials; /* of events */
    pid_t n_tids;
    struct sim_thread *on[SIM_CPUS], *first[SIM_CPUS], *last[SIM_CPUS];
    bool resched[SIM_CPUS]; /* at the end of the system call */
    bool is_throttled, is_halted, in_turn;
    uint64_t n_left; /* threads that have detached */
    /* Their time and points, in JSP_LOOKER_WHOLEths of a period; what rounding may hide. */
    int64_t left_time, left_points, slack;
    uint64_t drained_at;
    uint64_t spent_ns; /* of the quota */
    uint64_t process_ns, alarm_at; /* CPU time of all threads; 0: no alarm */
    bool has_alarm; /* it ended the looker's sleep */
    struct sim_thread self; /* the looker */
    struct sim_thread **threads, *leaving;
    uint32_t n_threads, room;
    struct jsp_looker looker;
    struct jsp_sleeper *sleeper;
    struct jsp_ask ask;
    struct sim_sum gone;
};
extern struct sim sim;

/* Pass time until the looker has had its processor for so long, or has slept. */
void sim_spend(uint64_t ns);
void sim_rest(uint64_t ns);

/* Let the threads that have ended in a turn of the looker detach. */
void sim_leavers(void);

/* Return the CPU time of a thread until now. */
uint64_t sim_cpu_ns(const struct sim_thread *t);
struct sim_thread *sim_find(pid_t tid);

/* Let an event happen at its time. */
enum sim_event_is { EVENT_STEP, EVENT_WAKE, EVENT_SIGNAL, EVENT_TICK, EVENT_QUOTA, EVENT_HALT };
struct sim_event {
    uint64_t at, serial; /* of a step or a sleep: only the newest one of its thread counts */
    pid_t tid;           /* of a thread; the number of a processor for a tick */
    enum sim_event_is is;
    enum sim_signal signal;
};
void sim_event_push(struct sim_event e);

/* Let an event happen at this time: a signal of this kind comes to the thread. */
void sim_later(uint64_t at, struct sim_thread *t, enum sim_signal signal);

/* The thread takes this signal now. */
void sim_handle(struct sim_thread *t, enum sim_signal signal);

/* Take the samples that the thread's event has brought since the last call. */
void sim_take_events(struct sim_thread *t);

/* Charge the time since the last call to what the thread, or each thread, did meanwhile. */
void sim_charge(struct sim_thread *t);
void sim_charge_all(void);

/* Return true if signals wait for the end of such a step. */
bool sim_holds_signals(enum sim_does does);

/* Return true if the thread, which runs, can take a signal at this moment. */
bool sim_takes_signals(const struct sim_thread *t);
void sim_take_signals(struct sim_thread *t);

/* Put a thread into the queue of its processor, as the first or the last one. */
void sim_enqueue(struct sim_thread *t, bool is_first);

/* Give a free processor to the first thread that may run. */
void sim_dispatch(int c);

/* Take the processor away, at once or at the end of the system call. */
void sim_preempt(int c);
bool sim_may_run(const struct sim_thread *t);
bool sim_is_slice_over(const struct sim_thread *t);

/* Let a thread that slept be ready, or run. */
void sim_wake(struct sim_thread *t);

/* Let a thread give its processor up: for good, or for so long. */
void sim_give_up(struct sim_thread *t, enum sim_is is);
void sim_sleep_for(struct sim_thread *t, uint64_t ns);

/* Begin the rest of a thread's step; end the step, and begin the next one. */
void sim_step_begin(struct sim_thread *t);
void sim_step_end(struct sim_thread *t);

/* Let a thread detach: disarm it, note what it had, add it to sim.gone, and free it. */
void sim_disarm(struct sim_thread *t);
void sim_settle(struct sim_thread *t);
void sim_sum_up(const struct sim_thread *t);
void sim_leave(struct sim_thread *t);

/* Read what the ring of a thread has. Return false if the records and the losses are not as many
 * points as were reported. */
bool sim_drain(struct sim_thread *t);

#endif
