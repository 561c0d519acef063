/* image/symbols_bundle.h - the names of all native addresses that a capture holds, as
 * the embedded file `__symbols__`, so that the capture can leave the machine.
 *
 * Addresses are noted when samples are written (`see`, some nanoseconds) and named from
 * time to time (`settle`, which reads files), while their objects are still mapped or
 * have just gone. No symbol table is held between two settles. An address keeps its name
 * after its object is gone. It has one name for the whole capture: the format has no room
 * for two.
 *
 * One thread at a time, never in the handler. Any thread may call jsp_bundle_give meanwhile.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_SYMBOLS_BUNDLE_H
#define JSP_IMAGE_SYMBOLS_BUNDLE_H

#include "symbols.h"

enum {
    JSP_BUNDLE_ADDRESSES = 1 << 18, /* different addresses; more are counted, not named */
    /* bytes of names; when they are used up, names are those of modules */
    JSP_BUNDLE_TEXT = 1 << 25,
};

struct jsp_bundle;

/* Open a bundle. Return 0 or -ENOMEM. The calling thread must be allowed to take the
 * loader's lock. */
int jsp_bundle_open(struct jsp_bundle **out);

/* Free the bundle, which no other thread may use. NULL does nothing. */
void jsp_bundle_close(struct jsp_bundle *b);

/* Note a native address of a sample. Tagged addresses and perf's context markers are
 * skipped. Return false if there are too many addresses; this one will have no name. */
bool jsp_bundle_see(struct jsp_bundle *b, uint64_t addr);

/* Name the function that begins at `start`, if its object has no symbol for it and none of its
 * addresses has been named. Return 0 or -ENOMEM. */
int jsp_bundle_give(struct jsp_bundle *b, uint64_t start, const char *name);

/* Move the names that were given to another bundle into a new one: of the parent, in the child of
 * a fork; of the file before, in the same process. No other thread uses either. */
void jsp_bundle_take_over(struct jsp_bundle *b, struct jsp_bundle *from);

/* Name the noted addresses by this map of the process. Addresses that the map does not
 * contain stay noted, unless `last`. Return 0 or -ENOMEM; all stay noted then. */
int jsp_bundle_settle(struct jsp_bundle *b, const struct jsp_maps *maps, bool last);

/* Copy the name of the function that begins at `addr`, by this map of the process. Return false
 * if no symbol is there. */
bool jsp_bundle_function(struct jsp_bundle *b, const struct jsp_maps *maps, uint64_t addr,
                         char out[JSP_SYMBOL_NAME]);

/* Return true if all noted addresses have names. */
bool jsp_bundle_is_settled(const struct jsp_bundle *b);

/* Return the number of addresses that found no room. */
uint64_t jsp_bundle_missed(const struct jsp_bundle *b);

/* Write the whole file for the process `pid` to *bytes, which the caller frees. Return 0
 * or -ENOMEM. */
int jsp_bundle_file(const struct jsp_bundle *b, int32_t pid, void **bytes, size_t *size);

#endif
