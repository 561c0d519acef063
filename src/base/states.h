/* base/states.h - what a sampled thread was doing: the one table of states.
 *
 * A sample on the wall clock has one of them. The file has the number, filters and programs
 * use the key, reports show the name. Every layer may include this.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_BASE_STATES_H
#define JSP_BASE_STATES_H

/* X(STATE, key, name): the numbers are those of the file, from 0. */
#define JSP_STATES(X) \
    X(UNKNOWN, "unknown", "not known") \
    JSP_STATES_KNOWN(X)
#define JSP_STATES_KNOWN(X) \
    X(RUNNING, "running", "running") \
    X(WAITING, "waiting", "waiting for a processor") \
    X(ASLEEP, "asleep", "asleep") \
    X(HOST, "host", "in a wait of the host") \
    X(STOPPED, "stopped", "stopped")

#define JSP_STATES_ENUM(STATE, key, name) JSP_STATE_##STATE,
enum jsp_state { JSP_STATES(JSP_STATES_ENUM) JSP_N_STATES };

struct jsp_state_row {
    const char *key;  /* in options and in output for programs */
    const char *name; /* in reports */
};
extern const struct jsp_state_row jsp_states[JSP_N_STATES]; /* index: enum jsp_state */

/* X(KIND, name): what a descriptor is on which a thread sleeps. */
#define JSP_STATES_FILES(X) \
    X(FILE, "file") \
    X(PIPE, "pipe") \
    X(SOCKET, "socket") \
    X(TERMINAL, "terminal") \
    X(DEVICE, "device") \
    X(EVENTFD, "eventfd") \
    X(TIMERFD, "timerfd") \
    X(SIGNALFD, "signalfd") \
    X(INOTIFY, "inotify")

#define JSP_STATES_FILE(KIND, name) JSP_STATE_ON_##KIND,
enum jsp_state_on { JSP_STATE_ON_UNKNOWN, JSP_STATES_FILES(JSP_STATES_FILE) JSP_N_STATE_ON };
extern const char *const jsp_state_on[JSP_N_STATE_ON];

/* A system call on a descriptor of some kind has a name of its own, with this number: the call's,
 * which is smaller than JSP_STATES_CALLS, and JSP_STATES_CALLS for each kind up to it. */
enum { JSP_STATES_CALLS = 1024 };

/* The innermost frames of samples in the states JSP_STATE_WAITING and JSP_STATE_STOPPED. */
#define JSP_STATE_WAITING_FRAME "[waiting for a processor]"
#define JSP_STATE_STOPPED_FRAME "[stopped]"

#endif
