/* image/descriptor.h - the descriptors that the library opens. Any thread.
 *
 * None of them is 0, 1 or 2. If a host runs with one of these closed, open() would return
 * it, and the host's next printf would write into our file.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_DESCRIPTOR_H
#define JSP_IMAGE_DESCRIPTOR_H

#include <sys/types.h>

/* Open like open(), with O_CLOEXEC. Return the descriptor or a negative errno. */
int jsp_descriptor_open(const char *path, int flags, mode_t mode);

/* The same for reading, with a path that begins in the folder of this descriptor. */
int jsp_descriptor_open_at(int folder, const char *path);

/* Open a file whose name others can guess, for writing. An existing file must be a plain
 * file with one link that belongs to this process's user. Return -EEXIST if it is
 * anything else, and -ELOOP for a symbolic link; nothing in it is changed then. `flags`
 * must not contain O_TRUNC. */
int jsp_descriptor_open_own(const char *path, int flags, mode_t mode);

/* Given what a system call has just returned: return this descriptor, or a copy in its place
 * whose number is not 0, 1 or 2, or a negative errno. */
int jsp_descriptor_high(int fd);

/* Duplicate a descriptor; the copy belongs to the caller. Return it or a negative
 * errno. */
int jsp_descriptor_copy(int fd);

/* Lock the file against every other descriptor that was opened for it, in this and in other
 * processes. Return -ETXTBSY if it is locked, and 0 also where the file system has no locks.
 * The lock ends with the last copy of the descriptor (forked children hold copies), or by
 * jsp_descriptor_unlock. */
int jsp_descriptor_lock(int fd);

/* End the lock of jsp_descriptor_lock. */
void jsp_descriptor_unlock(int fd);

#endif
