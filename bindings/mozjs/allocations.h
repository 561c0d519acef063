/* allocations.h - the objects that a context creates, for the library's samples of
 * allocations.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey calls back for each object of a realm that asks for it. The library chooses
 * the sampled ones; for these the binding tells which collection moves or frees them. All
 * functions run on the context's thread, outside of the handler.
 */
#ifndef JSPROF_MOZJS_ALLOCATIONS_H
#define JSPROF_MOZJS_ALLOCATIONS_H

#include "context.h"

/* The label of the entry that is on the ProfilingStack while an object is sampled. Its
 * dynamic string is the name of the object's type. */
extern const char mozjs_type_label[];

/* A collection of the nursery has ended. The objects that it did not move are freed. */
void mozjs_sort_young(jsprof_mozjs *m);

/* Take the callback from all realms. Do nothing without an earlier request. */
void mozjs_leave_allocations(jsprof_mozjs *m);

#endif
