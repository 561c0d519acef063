/* script.h - the object `jsprof`, by which a recorded script writes marks and counters.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_SCRIPT_H
#define JSPROF_MOZJS_SCRIPT_H

#include <js-config.h>

#include <js/RootingAPI.h>
#include <js/TypeDecls.h>

/* Define the object in this global, or in those of all realms. Do nothing without a
 * recording: a script checks globalThis.jsprof. Return false with an exception
 * pending. */
bool script_define(JSContext *cx, JS::HandleObject global);
bool script_define_everywhere(JSContext *cx);

#endif
