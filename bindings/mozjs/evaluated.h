/* evaluated.h - names that evaluated code gives itself by a comment `//# sourceURL=NAME`.
 *
 * SPDX-License-Identifier: MIT
 *
 * SpiderMonkey names a function of such code by the place that evaluates it:
 * "f (a.js line 3 > eval:1:10)". A host may forbid that, so SpiderMonkey asks it with the text
 * before it compiles. There the binding reads the comment, and then shows "f (NAME:1:10)".
 *
 * One place may evaluate several texts. Then the function's own place shows whose it is: only
 * one text has the function's name before that column. If that is not so, the function keeps
 * SpiderMonkey's name: a name may be missing, but it is never that of another text.
 */
#ifndef JSPROF_MOZJS_EVALUATED_H
#define JSPROF_MOZJS_EVALUATED_H

#include "context.h"

void mozjs_watch_evaluated(jsprof_mozjs *m);
/* No sample may read the context any more. */
void mozjs_unwatch_evaluated(jsprof_mozjs *m);

/* Return the label by which a function is shown: this one, or one that lasts until
 * mozjs_unwatch_evaluated. The handler may call this. */
const char *mozjs_shown_sigsafe(jsprof_mozjs *m, const char *label);

/* Return the name that is shown for the file of a function whose column is not known, or nullptr
 * for SpiderMonkey's name. It lasts as those do. The context's thread calls this. */
const char *mozjs_shown_file(const jsprof_mozjs *m, const char *file, const char *function,
                             uint32_t line);

#endif
