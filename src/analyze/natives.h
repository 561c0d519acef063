/* analyze/natives.h - the files that a capture's native code was mapped from.
 *
 * SPDX-License-Identifier: MIT
 *
 * A recording that was completed brings its names along; for one that was killed, and
 * for other programs' captures, they are read from the files of this machine: each
 * once, when the first address in it is asked for. A file that is not the recorded
 * one is not believed: its build id differs, or where the capture tells none, its
 * inode does, or it was written to after the recording. Then the folder that the user
 * named is asked: by build id, by path, by name. One thread.
 */
#ifndef JSP_ANALYZE_NATIVES_H
#define JSP_ANALYZE_NATIVES_H

#include "analyze/lookup.h"
#include "image/symtab.h"

/* A readable form of a linker's name, to be freed; NULL: it has none. */
typedef char *jsp_natives_demangle(const char *name);

struct jsp_native_file {
    struct jsp_read_text path, build_id;
    uint64_t inode, offset; /* offset: in the file, of the mapping that was met first */
    const char *name; /* path with an end, owned by the store */
    const char *from; /* the file that was read: name, or one elsewhere; NULL: none */
    int reason;       /* 0: table is there; else why not: -ESTALE, -EBADMSG, errno */
    struct jsp_symtab table;
};

struct jsp_natives {
    struct jsp_native_file *files;
    uint32_t n, room;
    struct jsp_hash by_path;
    struct jsp_store store;
    int64_t recorded; /* time of day at the recording's end, in s; 0: not known */
    jsp_natives_demangle *demangle; /* may be NULL */
    const char *symbols; /* a folder to look in, too; may be NULL */
    uint32_t unsure;     /* files from there that nothing in the capture confirms */
};

int jsp_natives_init(struct jsp_natives *n); /* -ENOMEM */
void jsp_natives_free(struct jsp_natives *n);

/* The position of the mapped file, read by now. -ENOENT: no file is mapped there;
 * -ENOMEM. */
int jsp_natives_file(struct jsp_natives *n, const struct jsp_lookup_map *map);

/* Where an address of the mapping stands in its file, and in which; false: nowhere
 * that could be read. */
struct jsp_native_place {
    uint32_t file;
    uint64_t vaddr;
};
bool jsp_natives_place(struct jsp_natives *n, const struct jsp_lookup_map *map,
                       uint64_t addr, struct jsp_native_place *out);

#endif
