/* image/descriptor.h - the descriptors that the library opens. Any thread.
 *
 * None of them is 0, 1 or 2. Where a host runs with one of these closed, open() would
 * return it, and the host's next printf would go into what we opened.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_DESCRIPTOR_H
#define JSP_IMAGE_DESCRIPTOR_H

#include <sys/types.h>

/* As open(), with O_CLOEXEC. The descriptor or a negative errno. */
int jsp_descriptor_open(const char *path, int flags, mode_t mode);

/* The same of a file with a name that others can guess, for writing: what is there already
 * must be a plain file with one name that belongs to this process's user. -EEXIST: it is
 * something else; -ELOOP: a symbolic link. Nothing of it is changed, O_TRUNC is not taken. */
int jsp_descriptor_open_own(const char *path, int flags, mode_t mode);

/* Another descriptor for the same, which is the caller's as well. Or a negative errno. */
int jsp_descriptor_copy(int fd);

/* Lock the file against every other descriptor that was opened for it, here and in other
 * processes. -ETXTBSY: it is locked; 0 also where the file system has no locks. The lock
 * ends with the last copy of the descriptor, of which forked children hold some, or by
 * unlock. */
int jsp_descriptor_lock(int fd);
void jsp_descriptor_unlock(int fd);

#endif
