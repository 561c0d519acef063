/* serve/push_send.h - the process of `jsprof push` that sends, and looks after that which records.
 *
 * A failure is one line on standard error.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_PUSH_SEND_H
#define JSP_SERVE_PUSH_SEND_H

#include "push_record.h"

/* Begin a child that records, and send until it has ended and nothing waits, or until a signal. A
 * child that is killed is begun again. Return CLI_OK, or CLI_FAILED, which is reported. */
int push_send(struct push *p);

#endif
