/* analyze/gresource.h - sources that are compiled into a program or library: files of GLib's
 * resources, which JavaScript names "resource:///org/gnome/app/main.js".
 *
 * They are in sections named .gresource.*, each a table of keys in GLib's GVDB form. No byte
 * is trusted. Only files that are stored as they are can be read; GLib may compress others
 * with zlib. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_GRESOURCE_H
#define JSP_ANALYZE_GRESOURCE_H

#include "lookup.h"
#include "source.h"

/* Find the file `path` in a table. Return its bytes, which `table` holds, or a NULL `at`. */
struct jsp_read_text jsp_gresource_find(struct jsp_read_text table, const char *path);

/* Read the resource of this URL from the first mapped file that has it. Return 0, -ENOENT
 * or -ENOMEM; *s is then empty. */
int jsp_gresource_read(struct jsp_source *s, const struct jsp_lookup *maps, const char *url);

#endif
