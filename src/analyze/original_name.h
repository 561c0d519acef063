/* analyze/original_name.h - the name of a function in the line that defines it.
 *
 * Most source maps name no functions, and most compilers keep their names. Where the original
 * line clearly names the function, that name counts. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_ORIGINAL_NAME_H
#define JSP_ANALYZE_ORIGINAL_NAME_H

#include "capture/read.h"

/* Return the last identifier of a generated name: "work" of "Base.prototype.work". Empty where
 * the name does not end in one: an engine's "work/<" is a function without a name. */
struct jsp_read_text jsp_original_name_own(struct jsp_read_text name);

/* Find `own` before a function that begins at a column: "own = async function (", "own: (". Return
 * the column where the name begins, or -1. The column may be one too high. */
int64_t jsp_original_name_before(struct jsp_read_text line, uint32_t column,
                                 struct jsp_read_text own);

/* Return the name of the function that begins at a column of the line, counted from 0, or an
 * empty text where the line does not name it. */
struct jsp_read_text jsp_original_name_find(struct jsp_read_text line, uint32_t column);

#endif
