/* session/task.c - see task.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image/descriptor.h"

static int task_keep(struct jsp_task_file *f, int fd)
{
    struct stat st;
    f->fd = fd;
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0) {
        f->fd = -errno;
        close(fd);
        return f->fd;
    }
    f->dev = st.st_dev;
    f->ino = st.st_ino;
    return 0;
}

int jsp_task_folder(struct jsp_task_file *folder)
{
    return task_keep(folder, jsp_descriptor_open("/proc/self/task", O_RDONLY | O_DIRECTORY, 0));
}

/* By its path if the host has closed the folder. */
static int task_open(const struct jsp_task_file *folder, pid_t tid, const char *name)
{
    static const char all[] = "/proc/self/task/";
    char path[64];
    snprintf(path, sizeof path, "%s%d/%s", all, (int)tid, name);
    int fd = jsp_descriptor_open_at(folder->fd, path + sizeof all - 1);
    return fd >= 0 || fd == -EMFILE ? fd : jsp_descriptor_open(path, O_RDONLY, 0);
}

int jsp_task_open(struct jsp_task_file *f, const struct jsp_task_file *folder, pid_t tid,
                  const char *name)
{
    return task_keep(f, task_open(folder, tid, name));
}

void jsp_task_close(struct jsp_task_file *f)
{
    struct stat st;
    if (f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_dev == f->dev && st.st_ino == f->ino)
        close(f->fd);
    f->fd = -1;
}

size_t jsp_task_read(const struct jsp_task_file *folder, pid_t tid, const char *name, char *text,
                     size_t room)
{
    int fd = task_open(folder, tid, name);
    text[0] = 0;
    if (fd < 0)
        return 0;
    ssize_t got = read(fd, text, room - 1);
    close(fd);
    text[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

/* Tell by the line that the kernel reports of such a descriptor alone. */
static enum jsp_state_on task_anonymous(const struct jsp_task_file *folder, pid_t tid, int fd)
{
    static const struct {
        const char *line;
        enum jsp_state_on is;
    } kinds[] = {
        { "\neventfd-count:", JSP_STATE_ON_EVENTFD }, { "\nclockid:", JSP_STATE_ON_TIMERFD },
        { "\nsigmask:", JSP_STATE_ON_SIGNALFD },      { "\ninotify ", JSP_STATE_ON_INOTIFY },
    };
    char name[32], text[256];
    snprintf(name, sizeof name, "fdinfo/%d", fd);
    jsp_task_read(folder, tid, name, text, sizeof text);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strstr(text, kinds[i].line))
            return kinds[i].is;
    return JSP_STATE_ON_UNKNOWN;
}

static enum jsp_state_on task_device(dev_t device)
{
    enum { TTY = 4, CONSOLE = 5, PTS = 136, PTS_END = 144 }; /* of Documentation/devices.txt */
    unsigned number = major(device);
    bool is_terminal = number == TTY || number == CONSOLE || (number >= PTS && number < PTS_END);
    return is_terminal ? JSP_STATE_ON_TERMINAL : JSP_STATE_ON_DEVICE;
}

enum jsp_state_on jsp_task_descriptor(const struct jsp_task_file *folder, pid_t tid, int fd)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "%d/fd/%d", (int)tid, fd);
    if (fstatat(folder->fd, path, &st, 0) < 0)
        return JSP_STATE_ON_UNKNOWN;
    switch (st.st_mode & S_IFMT) {
    case S_IFREG: return JSP_STATE_ON_FILE;
    case S_IFIFO: return JSP_STATE_ON_PIPE;
    case S_IFSOCK: return JSP_STATE_ON_SOCKET;
    case S_IFBLK: return JSP_STATE_ON_DEVICE;
    case S_IFCHR: return task_device(st.st_rdev);
    default: return task_anonymous(folder, tid, fd);
    }
}
