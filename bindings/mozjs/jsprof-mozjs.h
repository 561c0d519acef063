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
 * Only the thread that runs the context may attach and detach it. A program that ends by
 * exit() inside a script only closes its session: detach is for a context that continues,
 * or is destroyed in order.
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

/* Mark the C++ code of the program or library that contains `inside` as the engine's:
 * reports hide its frames by default, and their time counts for the script. NULL means
 * SpiderMonkey itself; another address may be a library that connects the host to it.
 * Call it once a session, on any thread. Errors: -EINVAL: no session; -ENOENT: nothing is
 * loaded there; -ENOMEM; -ECHILD. */
int jsprof_mozjs_hide(jsprof *session, const void *inside);

/* The tie between one thread of a session and one JSContext. */
typedef struct jsprof_mozjs jsprof_mozjs;

/* Show scripts of `cx` that start from now on in samples. SpiderMonkey compiles them
 * again, with the data that a profiler needs. Errors: -EINVAL: an argument is NULL;
 * -EBUSY: another profiler has this context, or the session already has a stack of this
 * thread; -ENOMEM; -ECHILD. */
int jsprof_mozjs_attach(jsprof_thread *thread, JSContext *cx, jsprof_mozjs **out);

/* Write the collections of this context from now on as marks of `session`, each with its
 * reason, in the group "GC": "Collection" from the first slice to the last, its
 * "Slice"s, its "Sweep", and each "Nursery" collection. The sizes of its heap are
 * counters: "GC bytes" after each collection and "Malloc bytes" ten times a second at
 * most. Marks of the group "JIT" are what the compilers report: each "Bailout" from optimized
 * code, and each "Invalidate" of a function's code, with reason and place. Call it once a
 * context. Errors: -EINVAL: an argument is NULL; or the error of
 * jsprof_counter. */
int jsprof_mozjs_tell_collections(jsprof_mozjs *m, jsprof *session);

/* Report the objects that this context's realms create from now on to the session's samples
 * of allocations, if its option `alloc` is set: see jsprof_allocated. The innermost frame of
 * a sample is the type, "[new Array]". Call it again for realms that are created later.
 * SpiderMonkey throws its compiled code away and creates each object by a call into C++.
 * Errors: -EINVAL: m is NULL, its context has been destroyed, or its
 * allocations have ended; -ENOMEM. */
int jsprof_mozjs_tell_allocations(jsprof_mozjs *m);

/* Report no more objects, and none as freed: those that are live now stay live in the
 * capture. A host calls it before it ends its realms. */
void jsprof_mozjs_end_allocations(jsprof_mozjs *m);

/* Give the context back as it was. -EBUSY: a script is still running; then the sampling
 * of JavaScript has ended, and a later call may free the rest. `js` may be NULL. */
int jsprof_mozjs_detach(jsprof_mozjs *m);

#ifdef __cplusplus
}
#endif

#endif
