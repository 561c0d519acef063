/* jsprof-mozjs.h - a SpiderMonkey context's JavaScript stack, for jsprof.
 *
 * SPDX-License-Identifier: MIT
 *
 * For any program that embeds SpiderMonkey, in C or C++. Attach the thread to a
 * session, then its context to the thread:
 *
 *     jsprof_thread *me; jsprof_mozjs *js;
 *     jsprof_mozjs_hide(prof, NULL);
 *     jsprof_thread_attach(prof, "main", &me);
 *     jsprof_mozjs_attach(me, cx, &js);
 *     jsprof_mozjs_tell_collections(js, prof);
 *         ... run scripts ...
 *     jsprof_mozjs_detach(js);
 *     jsprof_thread_detach(me);
 *
 * Attach and detach belong to the thread that runs the context. A program that ends
 * by exit() from inside a script just closes its session: detaching is for a
 * context that goes on, or is destroyed in order.
 */
#ifndef JSPROF_MOZJS_H
#define JSPROF_MOZJS_H

#include "jsprof.h"

#ifdef __cplusplus
struct JSContext;
extern "C" {
#else
typedef struct JSContext JSContext;
#endif

/* The C++ code of the program or library that `inside` points into is the engine's:
 * views hide its frames unless they are asked, and their time counts for the script.
 * NULL: SpiderMonkey itself. Another address: glue of the host's own. Once a session,
 * on any thread. -EINVAL: no session; -ENOENT: nothing is loaded there; -ENOMEM;
 * -ECHILD. */
int jsprof_mozjs_hide(jsprof *session, const void *inside);

/* The tie between one thread of a session and one JSContext. */
typedef struct jsprof_mozjs jsprof_mozjs;

/* Scripts of `cx` that start from now on are seen. SpiderMonkey compiles them anew,
 * with what a profiler needs. -EINVAL: an argument is NULL; -EBUSY: another profiler
 * has this context, or the session this thread's stack; -ENOMEM; -ECHILD. */
int jsprof_mozjs_attach(jsprof_thread *thread, JSContext *cx, jsprof_mozjs **out);

/* Collections of this context are marks of `session` from now on, each with its reason:
 * "Collection" from its first slice to its last, its "Slice"s, its "Sweep", and each
 * "Nursery" collection, all in the group "GC"; and the sizes of its heap are counters,
 * "GC bytes" after each of them and "Malloc bytes" ten times a second at most. Once a
 * context. -EINVAL: an argument is NULL; or what jsprof_counter answers. */
int jsprof_mozjs_tell_collections(jsprof_mozjs *m, jsprof *session);

/* Give the context back as it was. -EBUSY: a script is still running; sampling of
 * JavaScript has ended all the same, and a later call may free the rest. NULL is
 * fine. */
int jsprof_mozjs_detach(jsprof_mozjs *m);

#ifdef __cplusplus
}
#endif

#endif
