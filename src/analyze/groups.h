/* analyze/groups.h - functions in groups: by category, by kind, by tier, by module, by
 * file, by line, by thread, by state, by system call, by task, by label.
 *
 * A function can be in several groups, because its interpreted and its compiled frames are
 * of two kinds, and its frames are in many lines and threads. Groups are numbered in the
 * order in which frames of them are first seen. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_ANALYZE_GROUPS_H
#define JSP_ANALYZE_GROUPS_H

#include "categories.h"

enum jsp_group_by {
    JSP_GROUP_CATEGORY,
    JSP_GROUP_KIND,
    JSP_GROUP_TIER, /* the kind where the tier is unknown */
    JSP_GROUP_MODULE,
    JSP_GROUP_FILE, /* the module where the source file is unknown */
    JSP_GROUP_LINE, /* the function where the line is unknown */
    JSP_GROUP_THREAD,
    JSP_GROUP_STATE, /* the key of the sample's state */
    JSP_GROUP_CALL,  /* the system call or what the host waits for; otherwise the state */
    JSP_GROUP_TASK,  /* kind and name of the task that ran; the profile has them */
    JSP_GROUP_LABEL  /* the value of one label, or all labels of the sample */
};

struct jsp_groups;

/* Return 0 or -ENOMEM. The categories are borrowed as long as the groups live; they may be
 * NULL for the others. */
int jsp_groups_open(struct jsp_groups **out, enum jsp_group_by by,
                    const struct jsp_categories *categories);

/* Free the groups. NULL does nothing. */
void jsp_groups_close(struct jsp_groups *g);

/* Group by the values of this label, with JSP_GROUP_LABEL; borrowed. */
void jsp_groups_by_key(struct jsp_groups *g, const char *key);

/* Find the group of a frame of a stack of the profile, which is the same for all calls.
 * Return 0 or -ENOMEM. */
int jsp_groups_of(struct jsp_groups *g, const struct jsp_profile *p, uint32_t stack,
                  const struct jsp_profile_frame *frame, uint32_t *out);

/* Return the number of groups. */
uint32_t jsp_groups_n(const struct jsp_groups *g);

/* Return the name of a group. */
const char *jsp_groups_name(const struct jsp_groups *g, uint32_t group);

/* Return "[vm]" and the like: the module of functions of this kind that have no file. */
const char *jsp_groups_no_module(uint32_t kind);

#endif
