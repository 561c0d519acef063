/* analyze/categories.h - what kind of work a function is: rules by kind, name, file.
 *
 * SPDX-License-Identifier: MIT
 *
 * A rule is a line: the category, then what must hold of a function, each a word
 *
 *     name=GLOB   its name       file=GLOB   the file it was mapped from, whole path
 *     kind=WORD   jsp_kind_name's word       module=GLOB   that file's last part
 *
 * and all of them must. GLOB is the shell's: * ? [a-z]; a ? stands for a blank too. The
 * first rule that holds decides; the user's stand before those built in, the last of
 * which takes everything. "#" begins a comment. One thread.
 */
#ifndef JSP_ANALYZE_CATEGORIES_H
#define JSP_ANALYZE_CATEGORIES_H

#include "analyze/profile.h"

struct jsp_categories;

/* Why a text of rules was refused. */
struct jsp_categories_defect {
    uint32_t line;
    const char *why; /* static */
};

/* The user's rules, borrowed while it is called; length 0: none. -EBADMSG: *defect
 * says what; -ENOMEM. */
int jsp_categories_open(struct jsp_categories **out, struct jsp_read_text rules,
                        struct jsp_categories_defect *defect);
void jsp_categories_close(struct jsp_categories *c); /* NULL is fine */

/* Numbers count from 0 in order of first mention. */
uint32_t jsp_categories_n(const struct jsp_categories *c);
const char *jsp_categories_name(const struct jsp_categories *c, uint32_t category);
bool jsp_categories_find(const struct jsp_categories *c, const char *name, uint32_t *out);

uint32_t jsp_categories_of(const struct jsp_categories *c, const struct jsp_function *f);

/* Is this the system's code: the kernel's, the vdso's, or of a file below /lib*,
 * /usr/lib* or /usr/libexec? */
bool jsp_categories_is_system(const struct jsp_function *f);

#endif
