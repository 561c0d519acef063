/* export/merge_numbers.c - numbers of the inputs in the output, and its frames.
 *
 * SPDX-License-Identifier: MIT
 */
#include "merge_work.h"

enum { MERGE_FIRST_PID = 1 << 22 }; /* above any pid of a kernel */

/* -- Numbers ---------------------------------------------------------------- */

static uint32_t merge_hash(const struct merge_work *w, enum merge_space space,
                           uint64_t from)
{
    uint64_t h = jsp_hash_mix(w->by_from.seed, from);
    return (uint32_t)(jsp_hash_mix(h, (uint64_t)w->input << 8 | space) >> 16);
}

static uint64_t merge_known(const struct merge_work *w, enum merge_space space,
                            uint64_t from)
{
    uint32_t hash = merge_hash(w, space, from), probe = hash, at;
    while ((at = jsp_hash_next(&w->by_from, hash, &probe)) != 0) {
        const struct merge_number *n = &w->numbers[at - 1];
        if (n->from == from && n->input == w->input && n->space == space)
            return n->to;
    }
    return 0;
}

static uint64_t merge_remember(struct merge_work *w, enum merge_space space,
                               uint64_t from, uint64_t to)
{
    if (jsp_grow(&w->numbers, &w->numbers_room, w->n_numbers, sizeof *w->numbers) < 0) {
        w->has_failed = true;
        return to;
    }
    w->numbers[w->n_numbers] = (struct merge_number){ from, to, w->input, space };
    if (jsp_hash_add(&w->by_from, merge_hash(w, space, from), w->n_numbers++) < 0)
        w->has_failed = true;
    return to;
}

uint64_t merge_number(struct merge_work *w, enum merge_space space, uint64_t from)
{
    uint64_t to = merge_known(w, space, from);
    return to ? to : merge_remember(w, space, from, ++w->last[space]);
}

uint64_t merge_address(struct merge_work *w, uint64_t addr)
{
    if ((addr & JSP_WIRE_JIT_MASK) != JSP_WIRE_JIT_TAG)
        return addr;
    return JSP_WIRE_JIT_TAG | (uint32_t)merge_number(w, MERGE_TAG, addr);
}

static uint32_t merge_pid_hash(const struct merge_work *w, int32_t pid)
{
    return (uint32_t)(jsp_hash_mix(w->by_pid.seed, (uint32_t)pid) >> 16);
}

/* Has an earlier input a process with this pid and another command line? */
static bool merge_is_taken(const struct merge_work *w, int32_t pid,
                           struct jsp_read_text command)
{
    uint32_t hash = merge_pid_hash(w, pid), probe = hash, at;
    while ((at = jsp_hash_next(&w->by_pid, hash, &probe)) != 0) {
        const struct merge_pid *p = &w->pids[at - 1];
        if (p->pid == pid && !jsp_read_equal(p->command, command))
            return true;
    }
    return false;
}

/* Return the output's pid. Zero and negative ones are not processes of user space and
 * stay as they are. */
int32_t merge_pid(struct merge_work *w, int32_t pid)
{
    if (pid <= 0)
        return pid;
    uint64_t known = merge_known(w, MERGE_PID, (uint32_t)pid);
    if (known)
        return (int32_t)known;
    struct jsp_read_text command = jsp_profile_command(w->m->inputs[w->input], pid);
    int32_t to = pid;
    if (merge_is_taken(w, pid, command))
        to = MERGE_FIRST_PID + (int32_t)w->m->renumbered++;
    if (jsp_grow(&w->pids, &w->pids_room, w->n_pids, sizeof *w->pids) < 0 ||
        jsp_hash_add(&w->by_pid, merge_pid_hash(w, to), w->n_pids) < 0)
        w->has_failed = true;
    else
        w->pids[w->n_pids++] = (struct merge_pid){ to, command };
    merge_remember(w, MERGE_PID, (uint32_t)pid, (uint32_t)to);
    return to;
}

/* -- Frames ----------------------------------------------------------------- */

void merge_begin(struct merge_work *w, uint8_t type)
{
    struct jsp_encode_head head = { .cpu = w->in.cpu,
                                    .pid = merge_pid(w, w->in.pid),
                                    .type = type };
    __builtin_add_overflow(w->in.time, w->shift, &head.time);
    w->out = (struct jsp_encode){ .at = w->frame, .room = sizeof w->frame };
    jsp_encode_begin(&w->out, &head);
}

void merge_end(struct merge_work *w)
{
    jsp_sink_put(w->m->out, w->frame, jsp_encode_end(&w->out));
}

void merge_chunk(struct merge_work *w, const char *path, const void *data, size_t n,
                 bool is_last)
{
    if (n > JSP_WIRE_MAX_CHUNK) {
        /* cannot happen: chunks come from frames or are made smaller */
        w->has_failed = true;
        return;
    }
    merge_begin(w, JSP_WIRE_FILE_CHUNK);
    jsp_encode_chunk(&w->out, &(struct jsp_encode_chunk){ path, n, is_last });
    jsp_encode_put(&w->out, data, n);
    merge_end(w);
}
