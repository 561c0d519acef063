/* image/function_range.h - the bounds of one C function, by its object's unwind table.
 *
 * This reads the table at each call, so it is for functions of which a host names a few. Any
 * thread; not in a signal handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_FUNCTION_RANGE_H
#define JSP_IMAGE_FUNCTION_RANGE_H

#include <stdint.h>
#include <sys/types.h>

struct jsp_function_range {
    uint64_t start, end; /* end exclusive */
};

/* Find the function that contains `pc` in a loaded object of this process. Return 0, -ENOENT
 * (no table covers it), -ENOMEM or -EAGAIN (other threads fork all the time). */
int jsp_function_range(uint64_t pc, pid_t pid, struct jsp_function_range *out);

#endif
