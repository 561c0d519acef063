/* sources.h - names of GLib's functions that dispatch the sources of a main loop.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSPROF_MOZJS_SOURCES_H
#define JSPROF_MOZJS_SOURCES_H

#include "jsprof.h"

/* Name the static functions of the GLib that is loaded, in the captures of this session. Return 0
 * or the error of jsprof_symbol_add. Without GLib this does nothing. */
int sources_name(jsprof *session);

#endif
