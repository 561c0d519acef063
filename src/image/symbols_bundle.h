/* image/symbols_bundle.h - the names of all native addresses that a capture holds, as
 * the embedded file `__symbols__`, so that the capture can leave the machine.
 *
 * Addresses are noted as samples are written (`see`, some nanoseconds) and named now and
 * then (`settle`, which reads files), while their objects are still mapped or have just
 * gone. Between two settles no symbol table is held.
 * What was named stays named when its object goes. An address has one name for the
 * life of the capture: the format has no room for two.
 *
 * One thread at a time, never in the handler.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMBOLS_BUNDLE_H
#define JSP_IMAGE_SYMBOLS_BUNDLE_H

#include "symbols.h"

enum {
    JSP_BUNDLE_ADDRESSES = 1 << 18, /* different ones; more are counted, not named */
    JSP_BUNDLE_TEXT = 1 << 25,      /* bytes of names; beyond, modules have to do */
};

struct jsp_bundle;

/* -ENOMEM. The caller's thread may take the loader's lock. */
int jsp_bundle_open(struct jsp_bundle **out);

void jsp_bundle_close(struct jsp_bundle *b);

/* Note a native address of a sample. Tagged addresses and perf's context markers are
 * passed over. False: there are too many, it will have no name. */
bool jsp_bundle_see(struct jsp_bundle *b, uint64_t addr);

/* Name what was noted, by this map of the process. What it does not show stays noted,
 * unless it is the `last` time. -ENOMEM: they stay noted. */
int jsp_bundle_settle(struct jsp_bundle *b, const struct jsp_maps *maps, bool last);

/* Is there anything to name? */
bool jsp_bundle_is_settled(const struct jsp_bundle *b);

/* How many addresses found no room. */
uint64_t jsp_bundle_missed(const struct jsp_bundle *b);

/* The whole file, to be freed, for the process `pid`. -ENOMEM. */
int jsp_bundle_file(const struct jsp_bundle *b, int32_t pid, void **bytes, size_t *size);

#endif
