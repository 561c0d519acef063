/* session/file.h - the file of a capture: its name, and the right to write it.
 *
 * Two writers never share a file. A session opens its file without emptying it, locks it,
 * and only then empties it. If another session has the lock, or if an earlier program of
 * this process recorded into the file before it executed the present one, the session
 * takes another name: NAME.PID, or NAME.PID.2 and so on. So does a session that the environment
 * asked for, if an earlier session of the same program wrote the file. A later run by another
 * process overwrites the file.
 *
 * Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_FILE_H
#define JSP_SESSION_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct jsp_file {
    int fd;              /* the caller owns it once open has returned 0 */
    bool is_new;         /* no file had this name before */
    bool is_other;       /* the name differs from the requested one */
    /* length of the folder before the requested name; 0: it was absolute */
    size_t folder;
    size_t skip;         /* part of it that is the process's current folder */
    size_t asked;        /* length of the requested name */
    bool is_default;
    bool is_given;       /* as jsp_file_ask says */
    char pattern[PATH_MAX]; /* the requested name, with %p */
    char name[PATH_MAX]; /* absolute, unless the current folder is unknown */
};

struct jsp_file_ask {
    const char *pattern; /* %p: the process id; NULL: JSP_FILE_DEFAULT */
    const char *folder;  /* folder of a relative pattern; NULL: the current one */
    /* The name is not this program's, but the environment's, or JSPROF_NOFOLLOW is set. It may
     * belong to what ran before, or lead elsewhere: a symbolic link is refused, and what this
     * program has recorded under the name is kept. */
    bool is_given;
};

#define JSP_FILE_DEFAULT "jsprof-%p.syscap"

/* Open or create the file for writing; its content stays. On failure nothing is open, and
 * `name` is the last name that was tried, or "". Return 0, -ENAMETOOLONG, -ENOENT (an empty
 * name), -ETXTBSY (another session has it, and no other name is possible), -EEXIST (the
 * default name belongs to something else than a plain file of this user), or the errno of
 * open. */
int jsp_file_open(struct jsp_file *f, const struct jsp_file_ask *ask);

/* Open a file for the child of a fork whose parent has `parents`: by the same pattern, or
 * beside it. Errors as open. */
int jsp_file_open_child(struct jsp_file *f, const struct jsp_file *parents);

/* Undo the opening, after a failure of a later step. */
void jsp_file_abandon(struct jsp_file *f);

/* Format "PID START PROGRAM": the first two distinguish this process from all others of
 * this machine, the third distinguishes the programs that it executed in turn. The text
 * is "" if the system does not show when the process began. */
enum { JSP_FILE_WRITER = 64, JSP_FILE_WRITER_WITHIN = 8192 };
void jsp_file_writer(char text[JSP_FILE_WRITER]);

#define JSP_FILE_WRITER_ID "jsprof.writer" /* METADATA, in the capture's first bytes */

#endif
