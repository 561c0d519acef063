/* export/callgrind_exact.c - Callgrind's functions and calls from the capture's exact ones.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>

#include "analyze/exact.h"
#include "callgrind.h"

/* Texts are borrowed from the capture; the library's own ones are literals. */
static int exact_functions(struct callgrind *c, const struct jsp_exact *x)
{
    for (uint32_t i = 0; i < x->n_functions; i++) {
        const struct jsp_exact_function *from = &x->functions[i];
        struct callgrind_function *f = callgrind_function_add(c);
        if (!f)
            return -ENOMEM;
        f->name = from->name;
        f->file = from->file;
        f->line = from->line;
        f->total = jsp_exact_ns(x, from->cost.total);
        uint64_t self = jsp_exact_ns(x, from->cost.self);
        struct callgrind_self *s = self ? callgrind_self_add(c) : NULL;
        if (self && !s)
            return -ENOMEM;
        if (s)
            *s = (struct callgrind_self){ i, from->line, self };
    }
    return 0;
}

/* Add the calls, except those for which the host's table had no room: they have neither a
 * caller nor a callee. */
static int exact_calls(struct callgrind *c, const struct jsp_exact *x)
{
    for (uint32_t i = 0; i < x->n_edges; i++) {
        const struct jsp_exact_edge *e = &x->edges[i];
        bool is_rest = x->functions[e->caller].id == JSP_WIRE_CALLS_OTHER &&
                       x->functions[e->callee].id == JSP_WIRE_CALLS_OTHER;
        if (!e->cost.calls || is_rest)
            continue;
        struct callgrind_call *call = callgrind_call_add(c);
        if (!call)
            return -ENOMEM;
        *call = (struct callgrind_call){ e->caller, e->callee, 0, e->cost.calls,
                                         jsp_exact_ns(x, e->cost.total) };
    }
    return 0;
}

int callgrind_exact(struct callgrind *c, struct jsp_export *e)
{
    struct jsp_exact x;
    int err = jsp_exact_read(&x, e->profile->capture, NULL);
    if (!err)
        err = jsp_exact_show(&x, e->profile->naming);
    if (err) {
        jsp_exact_free(&x);
        return err;
    }
    bool is_graph = x.is_there && x.n_edges && x.commit[JSP_WIRE_COMMIT_INSIDE];
    if (is_graph) {
        c->event = "ns";
        err = exact_functions(c, &x);
        if (!err)
            err = exact_calls(c, &x);
    }
    jsp_exact_free(&x);
    return err ? err : is_graph;
}
