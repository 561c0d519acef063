/* control/socket.c - see socket.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "image/descriptor.h"
#include "jsprof.h"

enum { SOCKET_BACKLOG = 8, SOCKET_NAMES = 9, SOCKET_NOREPLACE = 1 };

/* -- The folder --------------------------------------------------------------- */

bool jsp_control_folder(char to[JSP_CONTROL_PATH], int i, const char *runtime)
{
    bool has_runtime = runtime && *runtime == '/';
    int n = 0;
    if (i == 0 && has_runtime)
        n = snprintf(to, JSP_CONTROL_PATH, "%s/jsprof", runtime);
    else if (i == 1)
        n = snprintf(to, JSP_CONTROL_PATH, "/tmp/jsprof-%lu", (unsigned long)geteuid());
    return n > 0 && n < JSP_CONTROL_PATH;
}

int jsp_control_folder_open(const char *folder)
{
    struct stat st;
    int fd = jsp_descriptor_open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
    if (fd == -EACCES || fd == -ELOOP || fd == -ENOTDIR) /* another user's, or a link */
        return -EPERM;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & 077))
        return fd;
    close(fd);
    return -EPERM;
}

/* Open a folder that can be used, and make it if needed. */
static int socket_folder(const char *runtime)
{
    char path[JSP_CONTROL_PATH];
    int fd = -ENOENT;
    for (int i = 0; fd < 0 && i < JSP_CONTROL_FOLDERS; i++) {
        if (!jsp_control_folder(path, i, runtime))
            continue;
        mkdir(path, 0700); /* it may be there */
        fd = jsp_control_folder_open(path);
    }
    return fd;
}

/* -- Addresses ----------------------------------------------------------------- */

/* A name below an open folder: whatever was put into the folder's place, it is not used. /proc/self
 * has no descriptors once the main thread has ended. */
static socklen_t socket_address(struct sockaddr_un *to, int folder, const char *name)
{
    *to = (struct sockaddr_un){ .sun_family = AF_UNIX };
    snprintf(to->sun_path, sizeof to->sun_path, "/proc/thread-self/fd/%d/%s", folder, name);
    return sizeof *to;
}

static int socket_new(void)
{
    return jsp_descriptor_high(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

int jsp_control_connect(int folder, const char *name)
{
    struct sockaddr_un to;
    socklen_t n = socket_address(&to, folder, name);
    int fd = socket_new();
    if (fd < 0)
        return fd;
    if (connect(fd, (struct sockaddr *)&to, n) == 0)
        return fd;
    int err = -errno;
    close(fd);
    return err;
}

/* Listen under a name of our own first: a socket that is visible always accepts, so a refusal
 * proves that it is stale. */
static int socket_listen(int folder, const char *name)
{
    struct sockaddr_un at;
    socklen_t n = socket_address(&at, folder, name);
    int fd = socket_new();
    if (fd < 0)
        return fd;
    if (fchmod(fd, 0600) == 0 && bind(fd, (struct sockaddr *)&at, n) == 0 &&
        listen(fd, SOCKET_BACKLOG) == 0)
        return fd;
    int err = -errno;
    close(fd);
    return err;
}

/* Remove a socket of an earlier process of this number. */
static void socket_sweep(int folder, const char *name)
{
    int fd = jsp_control_connect(folder, name);
    if (fd >= 0)
        close(fd);
    else if (fd == -ECONNREFUSED)
        unlinkat(folder, name, 0);
}

/* Rename without replacing; where that is not known, by a second name. */
static int socket_rename(int folder, const char *from, const char *to)
{
    if (syscall(SYS_renameat2, folder, from, folder, to, SOCKET_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    return linkat(folder, from, folder, to, 0) < 0 ? -errno : 0;
}

/* Give the socket its name. Another one of that name may be a process of another container, or
 * another copy of this library. */
static int socket_name(struct jsp_control_place *place, const char *first)
{
    int err = -EEXIST;
    for (int i = 1; err == -EEXIST && i <= SOCKET_NAMES; i++) {
        if (i == 1)
            snprintf(place->name, sizeof place->name, "%d.sock", (int)getpid());
        else
            snprintf(place->name, sizeof place->name, "%d.%d.sock", (int)getpid(), i);
        socket_sweep(place->folder, place->name);
        err = socket_rename(place->folder, first, place->name);
    }
    return err;
}

int jsp_control_listen(struct jsp_control_place *place, const char *runtime)
{
    char first[JSP_CONTROL_NAME];
    place->fd = -1;
    place->folder = socket_folder(runtime);
    if (place->folder < 0)
        return place->folder;
    /* the address of `place` differs from that of another copy of the library */
    snprintf(first, sizeof first, ".%d-%08x", (int)getpid(), (unsigned)(size_t)place);
    unlinkat(place->folder, first, 0);
    int err = place->fd = socket_listen(place->folder, first);
    if (place->fd >= 0)
        err = socket_name(place, first);
    unlinkat(place->folder, first, 0);
    if (err < 0)
        jsp_control_leave_place(place);
    return err < 0 ? err : 0;
}

/* If no folder can be used, the error of the last one is the reason. */
const char *jsp_control_why(char to[JSP_CONTROL_WHY], int err)
{
    char path[JSP_CONTROL_PATH] = "";
    jsp_control_folder(path, JSP_CONTROL_FOLDERS - 1, NULL);
    int folder = jsp_control_folder_open(path);
    if (folder >= 0)
        close(folder);
    if (folder == err && err == -EPERM)
        snprintf(to, JSP_CONTROL_WHY, "%s: the folder belongs to another user, others may enter "
                 "it, or it is a link", path);
    else if (folder == err)
        snprintf(to, JSP_CONTROL_WHY, "%s: %s", path, jsprof_strerror(err));
    else
        snprintf(to, JSP_CONTROL_WHY, "%s", jsprof_strerror(err));
    return to;
}

void jsp_control_leave_place(struct jsp_control_place *place)
{
    if (place->fd >= 0)
        close(place->fd);
    if (place->folder >= 0)
        close(place->folder);
    place->fd = place->folder = -1;
}

void jsp_control_unlisten(struct jsp_control_place *place)
{
    if (place->folder >= 0)
        unlinkat(place->folder, place->name, 0);
    jsp_control_leave_place(place);
}

bool jsp_control_may(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t n = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 || n != sizeof peer)
        return false;
    *pid = peer.pid;
    return peer.uid == geteuid() || peer.uid == 0;
}

void jsp_control_comm(char to[JSP_CONTROL_NAME])
{
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, to, JSP_CONTROL_NAME - 1);
    if (fd >= 0)
        close(fd);
    n = n > 0 && to[n - 1] == '\n' ? n - 1 : n > 0 ? n : 0;
    to[n] = 0;
}
