/* control/request.h - what a peer of the control socket may ask for: one line of text, as
 * docs/control.md describes.
 *
 * The bytes come from another process of the same user and are checked like any others. Any
 * thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CONTROL_REQUEST_H
#define JSP_CONTROL_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jsprof.h"

enum {
    JSP_CONTROL_VERSION = 1,
    JSP_CONTROL_LINE = 512, /* bytes of a request with its newline */
    JSP_REQUEST_DONE = 256,
};

enum jsp_request_verb {
    JSP_REQUEST_INFO,
    JSP_REQUEST_RECORD,
    JSP_REQUEST_STOP, /* end the recording that this peer began */
    JSP_REQUEST_CALLS,
};

struct jsp_request {
    enum jsp_request_verb verb;
    uint32_t session; /* 0: the newest one */
    uint32_t ms;      /* length of the recording; 0: until the peer ends it */
    uint32_t hz;
    int clock;        /* enum jsp_clock */
    bool looker, compact;
    bool once;        /* end it when each thread has a sample */
    uint32_t stall_us; /* only turns that take longer; 0: what the host chose */
    bool tasks, alloc; /* refuse it if it would have none of them */
    uint32_t modes;   /* JSPROF_CALLS_... */
};

/* Read a line of n bytes, without its newline. Return 0, or -EPROTO if it is not of this protocol
 * and version, or -EINVAL for a word that is not known; *word is its number then, from 0. */
int jsp_request_read(struct jsp_request *out, const char *line, size_t n, uint32_t *word);

/* Write the line that answers the end of a recording: the counts of *s. `lost` is the sum of all
 * causes but `quick`, which is a figure of its own. Return `to`. */
const char *jsp_request_done(char to[JSP_REQUEST_DONE], const jsprof_stats *s);

#endif
