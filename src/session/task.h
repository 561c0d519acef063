/* session/task.h - the kernel's files about one thread of this process.
 *
 * Their folder is opened once, while the host starts the session. So they are found later, too,
 * when the host has gone to another root or another mount namespace, or something else is mounted
 * on /proc.
 *
 * The looker's lock protects all of them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SESSION_TASK_H
#define JSP_SESSION_TASK_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/states.h"

#define JSP_TASK_LATER INT_MIN /* no error of a system call has this number */

/* A file that stays open. */
struct jsp_task_file {
    int fd; /* owned; negative: it is not open; JSP_TASK_LATER: it is to be opened when needed */
    dev_t dev; /* of the file: a host may close it, and open another one with its number */
    ino_t ino;
};

/* Open /proc/self/task. Return 0, or a negative errno. */
int jsp_task_folder(struct jsp_task_file *folder);

/* Open the file of a thread. Return 0, or a negative errno; then the file is not open. */
int jsp_task_open(struct jsp_task_file *f, const struct jsp_task_file *folder, pid_t tid,
                  const char *name);

/* Close the file, unless the host has closed it and its number is now another file's. */
void jsp_task_close(struct jsp_task_file *f);

/* Read the beginning of a file that is not kept open, with a 0 after it. Return its length, 0 if
 * there is none. */
size_t jsp_task_read(const struct jsp_task_file *folder, pid_t tid, const char *name, char *text,
                     size_t room);

/* Return what this descriptor of the thread is now, as far as that is known. This takes 3 us, and
 * 10 where it is none of the file system's. */
enum jsp_state_on jsp_task_descriptor(const struct jsp_task_file *folder, pid_t tid, int fd);

#endif
