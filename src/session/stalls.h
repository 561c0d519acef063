/* session/stalls.h - what of a thread belongs to a long turn, in stall mode: see tasks/stalls.h.
 *
 * The drain first notes whether a window is open, then takes the long windows that the thread has
 * published, and then asks about samples that are older than both. So a window that it saw
 * neither open nor among the long ones was quick. Used by the drain, with the session's lock.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_STALLS_H
#define JSP_SESSION_STALLS_H

#include <stdbool.h>
#include <stdint.h>

struct jsprof;
struct jsp_thread;

enum { JSP_STALLS_KEPT = 256 };

struct jsp_stall_list {
    uint64_t limit_ns;
    uint64_t open_ns;  /* begin of the window that is open; 0: none */
    uint64_t looked_ns; /* when that was noted */
    uint32_t n;        /* long windows so far; the last ones are in `at` */
    struct {
        uint64_t begin_ns, end_ns;
    } at[JSP_STALLS_KEPT];
};

enum jsp_stall { JSP_STALL_KEEP, JSP_STALL_DROP, JSP_STALL_WAIT };

/* Note that a window was long. */
void jsp_stall_note(struct jsp_stall_list *list, uint64_t begin_ns, uint64_t end_ns);

/* Does something that lasted from then until then belong to a long window? WAIT: the open window
 * decides. Without `is_running` it never comes to its end. */
enum jsp_stall jsp_stall_of(const struct jsp_stall_list *list, uint64_t from_ns, uint64_t to_ns,
                            bool is_running);

/* Write the marks of the session, in stall mode those that belong to a long window. */
void jsp_stall_marks(struct jsprof *p);

/* Before a sample of the thread is written, write its task and those that led to it. */
void jsp_stall_explain(struct jsprof *p, const struct jsp_thread *t, uint64_t task);

#endif
