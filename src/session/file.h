/* session/file.h - the file that a capture goes into: its name, and the right to write it.
 *
 * Two writers never share a file. A session opens its file without emptying it, locks it,
 * and empties it only then. Where the lock is held, or where the file has what an earlier
 * program of this very process recorded before it executed the present one, the session
 * takes a name of its own: NAME.PID, or NAME.PID.2 and so on. A later run by another
 * process writes over the file.
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
    int fd;              /* the caller's, once open has returned 0 */
    bool is_new;         /* no file had the name before */
    bool is_other;       /* the name is not the one that was asked for */
    size_t folder;       /* bytes in the name before what was asked for; 0: it was absolute */
    size_t skip;         /* of them, where the folder was the process's own */
    size_t asked;        /* bytes of the name that was asked for */
    bool is_default, nofollow;
    char pattern[PATH_MAX]; /* as it was asked for */
    char name[PATH_MAX]; /* absolute, unless the system does not say which folder this is */
};

struct jsp_file_ask {
    const char *pattern; /* %p: the process id; NULL: JSP_FILE_DEFAULT */
    const char *folder;  /* of a relative pattern; NULL: where the process is now */
    bool nofollow;       /* refuse a symbolic link */
};

#define JSP_FILE_DEFAULT "jsprof-%p.syscap"

/* Open or create it for writing; what is in it stays. On failure nothing is open, and the
 * name is the one that was tried, or "". -ENAMETOOLONG; -ENOENT: an empty name; -ETXTBSY:
 * it is another session's, and there is no other name for it; -EEXIST: under the default
 * name lies something that is not this user's own plain file; or open's errno. */
int jsp_file_open(struct jsp_file *f, const struct jsp_file_ask *ask);

/* In the child of a fork: a file of its own, for a session whose parent has that one. By the
 * same pattern, or beside it. Errors as open. */
int jsp_file_open_child(struct jsp_file *f, const struct jsp_file *parents);

/* Undo it: after a failure of what came next. */
void jsp_file_abandon(struct jsp_file *f);

/* "PID START PROGRAM": the first two tell this process from every other one of this machine,
 * the third one the programs that it executed in turn. "": the system does not say when the
 * process began. */
enum { JSP_FILE_WRITER = 64, JSP_FILE_WRITER_WITHIN = 8192 };
void jsp_file_writer(char text[JSP_FILE_WRITER]);

#define JSP_FILE_WRITER_ID "jsprof.writer" /* METADATA, in the capture's first bytes */

#endif
