/* analyze/categories.h - what kind of work a function is: rules by kind, name, file.
 *
 * A rule is a line: the category, then conditions on a function, each a word
 *
 *     name=GLOB   its name       file=GLOB   the file it was mapped from, whole path
 *     kind=WORD   jsp_kind_name's word       module=GLOB   that file's last part
 *
 * All conditions of a rule must hold. GLOB is the shell's: * ? [a-z]; a ? also matches a
 * blank. The first rule that holds decides; the user's rules come before the built-in
 * ones, the last of which matches every function. "#" begins a comment. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_CATEGORIES_H
#define JSP_ANALYZE_CATEGORIES_H

#include "profile.h"

struct jsp_categories;

/* The reason why a text of rules was refused. */
struct jsp_categories_defect {
    uint32_t line;
    const char *why; /* static */
};

/* Parse the user's rules, which are only read during the call; length 0: none. Return 0,
 * -EBADMSG (see *defect) or -ENOMEM. */
int jsp_categories_open(struct jsp_categories **out, struct jsp_read_text rules,
                        struct jsp_categories_defect *defect);

/* Free the categories. NULL does nothing. */
void jsp_categories_close(struct jsp_categories *c);

/* Return the number of categories, which are numbered from 0 in order of first mention. */
uint32_t jsp_categories_n(const struct jsp_categories *c);

/* Return the name of a category. */
const char *jsp_categories_name(const struct jsp_categories *c, uint32_t category);

/* Find the category of this name. Return false if there is none. */
bool jsp_categories_find(const struct jsp_categories *c, const char *name, uint32_t *out);

/* Return the category of those frames of the function that are of this kind. */
uint32_t jsp_categories_of(const struct jsp_categories *c, const struct jsp_function *f,
                           uint32_t kind);

/* Return true for code of the system: the kernel's, the vdso's, or of a file below /lib*,
 * /usr/lib* or /usr/libexec. */
bool jsp_categories_is_system(const struct jsp_function *f);

#endif
