/* analyze/addresses.h - the addresses of a stack, leaf first, each with its line.
 *
 * The capture may hold them in a SAMPLE frame and jsprof/samples, or in jsprof/stacks.
 * One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ADDRESSES_H
#define JSP_ANALYZE_ADDRESSES_H

#include "profile.h"
#include "samples.h"

struct jsp_addresses {
    const struct jsp_read *capture;
    uint32_t node;              /* in jsprof/stacks; 0: use the fields below */
    const uint8_t *at, *end;    /* addresses in the file */
    const uint8_t *line, *lines_end;
    uint32_t n_lines;           /* lines not read yet */
};

/* Begin with the addresses of a stack of the profile. */
void jsp_addresses_of_stack(struct jsp_addresses *a, const struct jsp_profile *p,
                            const struct jsp_stack *k);

/* Begin with the addresses of a sample, as the file has them. */
void jsp_addresses_of_sample(struct jsp_addresses *a, const struct jsp_profile *p,
                             const struct jsp_sample *s);

/* Read the next address. Return false if there is none left. *line 0: unknown. */
bool jsp_addresses_next(struct jsp_addresses *a, uint64_t *addr, uint64_t *line);

#endif
