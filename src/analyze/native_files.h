/* analyze/native_files.h - the files from which a capture's native code was mapped.
 *
 * A completed recording contains its names; for a killed one, and for other programs'
 * captures, they are read from the files of this machine: each file once, when the first
 * address in it is looked up. A completed recording has no names of functions of stripped
 * files; a debug file that came later has. A file that is not the recorded one is refused:
 * its build id differs, or, without a build id in the capture, its inode does, or it was
 * modified after the recording. Then the folder that the user named is searched: by build
 * id, by path, by name; and debuginfod's cache. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_NATIVE_FILES_H
#define JSP_ANALYZE_NATIVE_FILES_H

#include "lookup.h"
#include "base/store.h"
#include "image/symtab.h"

/* Return a readable form of a linker's name, which the caller frees, or NULL. */
typedef char *jsp_native_files_demangle(void *context, const char *name);

struct jsp_native_file {
    struct jsp_read_text path, build_id;
    uint64_t inode, offset; /* offset: of the first mapping seen, in the file */
    const char *name; /* path with a NUL, owned by the store */
    const char *from; /* the file that was read: name, or one elsewhere; NULL: none */
    int reason; /* 0: table is valid; otherwise the error: -ESTALE, -EBADMSG, errno */
    bool is_needed;  /* the capture itself has no name for an address in it */
    bool is_skipped; /* it was not needed and nothing has names of it: the table is empty */
    struct jsp_symtab table;
};

struct jsp_native_files {
    struct jsp_native_file *files;
    uint32_t n, room;
    struct jsp_hash by_path;
    struct jsp_store store;
    int64_t recorded; /* time of day at the recording's end, in s; 0: unknown */
    jsp_native_files_demangle *demangle; /* may be NULL */
    void *demangle_context;
    const char *symbols; /* another folder to search; may be NULL */
    const char *cache;   /* debuginfod's; may be NULL */
    uint32_t unsure;     /* files from there that the capture does not confirm */
};

/* Lay out an empty list. Return 0 or -ENOMEM. */
int jsp_native_files_init(struct jsp_native_files *n);

/* Close all files and free the list. */
void jsp_native_files_free(struct jsp_native_files *n);

/* Find the file of an address in the mapping, and its address there. Return false if no
 * such file could be read. */
struct jsp_native_place {
    uint32_t file;
    uint64_t vaddr;
};
bool jsp_native_files_place(struct jsp_native_files *n, const struct jsp_lookup_map *map,
                            uint64_t addr, struct jsp_native_place *out);

/* Return the name of the function at this address by symbols that the recording did not have,
 * or NULL. */
const char *jsp_native_files_later(struct jsp_native_files *n, const struct jsp_lookup_map *map,
                                   uint64_t addr);

#endif
