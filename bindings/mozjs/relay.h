/* relay.h - a session's capture, on its way into Sysprof's own recording.
 *
 * SPDX-License-Identifier: MIT
 *
 * The session writes into a pipe. A thread reads whole frames from it and passes them on:
 * into the ring that Sysprof gives to a program that asks on SYSPROF_CONTROL_FD, or into
 * the file of SYSPROF_TRACE_FD or GJS_TRACE_FD, which Sysprof joins to its own when the
 * program has ended. The relay drops embedded files, except the kinds of functions: Sysprof
 * finds names itself, and the files' account covers only our samples, which are not alone
 * there. It renumbers counters, so that they do not collide with Sysprof's.
 *
 * Any thread may call these functions, but no signal handler.
 */
#ifndef JSPROF_MOZJS_RELAY_H
#define JSPROF_MOZJS_RELAY_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct relay;

/* What the relay passed on and lost. */
struct relay_result {
    uint64_t frames;
    uint64_t lost; /* nobody took them for two seconds, or the file was full */
};

/* The session writes to *input, which the caller closes. `fd` stays the caller's. Return
 * 0 or a negative errno; -EPROTO and -ETIMEDOUT mean that the other end is no Sysprof. */
int relay_to_ring(struct relay **out, int control_fd, int *input);
int relay_to_file(struct relay **out, int fd, int *input);

/* The caller has closed every descriptor of the input: pass on the rest and wait, two
 * seconds at most, until the ring has been read. */
void relay_close(struct relay *r, struct relay_result *result);

#ifdef __cplusplus
}
#endif

#endif
