/* control/socket.h - where processes listen for `jsprof ps` and `jsprof record PID`.
 *
 * The folder is $XDG_RUNTIME_DIR/jsprof or else /tmp/jsprof-UID. It belongs to the user and nobody
 * else may enter it; a socket in it has the name of the process, PID.sock, and mode 0600. The
 * kernel reports the user of each peer, which must be the same or root. Any thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CONTROL_SOCKET_H
#define JSP_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { JSP_CONTROL_FOLDERS = 2, JSP_CONTROL_PATH = 160, JSP_CONTROL_NAME = 32 };

/* Write the path of folder number i, in the order of preference. Return false if there is no such
 * folder, or its path is too long. `runtime` is the value of XDG_RUNTIME_DIR, or NULL. */
bool jsp_control_folder(char to[JSP_CONTROL_PATH], int i, const char *runtime);

/* Open one that exists. Return its descriptor, -ENOENT, -EPERM if it is a link or no folder, does
 * not belong to this user, or others may enter it, or another negative errno. */
int jsp_control_folder_open(const char *folder);

/* A listening socket, and its file. */
struct jsp_control_place {
    int fd;     /* owned; -1: none */
    int folder; /* owned */
    char name[JSP_CONTROL_NAME];
};

/* Make the folder if needed, and listen there. Return 0 or a negative errno. */
int jsp_control_listen(struct jsp_control_place *place, const char *runtime);

/* Say in `to` why listening failed. Return `to`. */
enum { JSP_CONTROL_WHY = JSP_CONTROL_PATH + 96 };
const char *jsp_control_why(char to[JSP_CONTROL_WHY], int err);

/* Stop listening, and remove the file. */
void jsp_control_unlisten(struct jsp_control_place *place);

/* Close the descriptors and leave the file: in a forked child it is the parent's. */
void jsp_control_leave_place(struct jsp_control_place *place);

/* Connect to a socket. Return the descriptor, -ECONNREFUSED if nobody listens, or another negative
 * errno. */
int jsp_control_connect(int folder, const char *name);

/* Return true if the peer's user is ours or root. *pid is the peer as our process numbers it. */
bool jsp_control_may(int fd, pid_t *pid);

/* Write the name of this process, or "". */
void jsp_control_comm(char to[JSP_CONTROL_NAME]);

#endif
