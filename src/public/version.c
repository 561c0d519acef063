/* public/version.c - the library's version, and its errors in words.
 *
 * SPDX-License-Identifier: MIT
 */
#include <errno.h>
#include <stdio.h>

#include "jsprof.h"
#include "session/explain.h"

const char *jsprof_error_text(int err, char *text, size_t size)
{
    const char *line = jsprof_strerror(err);
    if (!text || !size)
        return line;
    if (!jsp_explained(err, text, size))
        snprintf(text, size, "%s", line);
    return text;
}

int jsprof_version(void)
{
    return JSPROF_VERSION;
}

const char *jsprof_strerror(int err)
{
    switch (err < 0 ? -err : err) {
    case 0: return "no error";
    case EAGAIN: return "no timers or threads left (RLIMIT_SIGPENDING, RLIMIT_NPROC), or "
                        "the output is a pipe that takes nothing now";
    case EALREADY: return "the thread is already attached to this session";
    case EBADF: return "the capture's file descriptor was closed by the program";
    case EBUSY: return "the signal already has another handler (another profiler?)";
    case ECHILD: return "the session belongs to the process that forked";
    case EACCES: return "permission denied";
    case E2BIG: return "listings would take more than 32 MiB";
    case EDQUOT: return "disk quota exceeded";
    case EEXIST: return "something is there that is not this user's own plain file; or "
                        "there is a counter of that name with another type, or a "
                        "function of that name with another listing";
    case EFBIG: return "the file is larger than this process may write";
    case EINVAL: return "an argument is out of range";
    case EIO: return "input/output error";
    case EISDIR: return "is a directory";
    case ELOOP: return "is a symbolic link";
    case EMFILE: return "too many open files";
    case ENAMETOOLONG: return "the path is too long";
    case ENOBUFS: return "no room in the output buffer";
    case ENOENT: return "no such file or directory";
    case ENOMEM: return "out of memory";
    case ENOSPC: return "no space left on device";
    case ENXIO: return "nobody reads the pipe";
    case ENOTDIR: return "a part of the path is not a directory";
    case ENOTSUP: return "not supported here, or a thread that pthread_create did not make";
    case EOVERFLOW: return "the stack, or the alternate signal stack, is too small for a "
                           "signal";
    case EPERM: return "not permitted, or not the thread that attached";
    case EPIPE: return "the reader of the pipe went away";
    case ESTALE: return "another program has cut, removed or replaced the file, or writes "
                        "to it as well";
    case ETXTBSY: return "another process or session records into this file";
    case EROFS: return "read-only file system";
    default: return "unexpected error";
    }
}
