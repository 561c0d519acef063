/* relay.h - a session's capture, on its way into Sysprof's own recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * The session writes into a pipe; a thread reads whole frames from it and passes them
 * on: into the ring that Sysprof gives to whoever asks on SYSPROF_CONTROL_FD, or into
 * the file of SYSPROF_TRACE_FD or GJS_TRACE_FD, which Sysprof joins to its own when the
 * program has ended. Embedded files stay behind: names in them are Sysprof's to find,
 * and what they say of our samples counts samples that are not alone there. Numbers of
 * counters are moved out of the way of Sysprof's.
 *
 * All of it may be called by any thread, never by a signal handler.
 */
#ifndef JSPROF_MOZJS_RELAY_H
#define JSPROF_MOZJS_RELAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct relay;

/* What was passed on. */
struct relay_result {
    uint64_t frames;
    uint64_t lost; /* nobody took them for two seconds, or the file is full */
};

/* *input is where the session is to write; the caller closes it. Negative errno:
 * -EPROTO, -ETIMEDOUT: the other end is no Sysprof. `fd` stays the caller's. */
int relay_to_ring(struct relay **out, int control_fd, int *input);
int relay_to_file(struct relay **out, int fd, int *input);

/* Every descriptor for the input has been closed: pass on the rest and wait, two seconds
 * at most, until the ring has been read. */
void relay_close(struct relay *r, struct relay_result *result);

#ifdef __cplusplus
}
#endif

#endif
