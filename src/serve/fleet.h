/* serve/fleet.h - records all processes of this user that listen, for the same time, and reads
 * their captures as one profile.
 *
 * A process that dies or hangs meanwhile gives what it had written; one that another command
 * records is left alone and counted. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_FLEET_H
#define JSP_SERVE_FLEET_H

#include "client.h"
#include "export/export.h"
#include "read/reader.h"

struct fleet_ask {
    uint32_t ms, hz;
    const char *clock; /* "cpu" or "wall" */
    pid_t pid;         /* 0: all */
    const char *host;  /* programs of this name; NULL: all */
    int client;        /* a socket: when its other side closes it, nobody wants the answer; -1 */
};

/* Why a process is not in the profile, though it listens. */
enum fleet_absence {
    FLEET_PRESENT,
    FLEET_IDLE,    /* it had no CPU time for a sample */
    FLEET_MISSED,  /* it had, but all its samples were lost */
    FLEET_BUSY,    /* another command records it, or it records itself */
    FLEET_SILENT,  /* it did not answer, or had written nothing when it ended */
    FLEET_ABSENCES,
};

struct fleet_host {
    struct serve_talk talk;
    struct jsp_export_host is; /* its texts are those below */
    char host[64], vm[64];
    int fd;                    /* owned: the capture */
    bool has_begun, has_ended, is_refused; /* it said so */
    bool is_stopped;           /* it was asked to end */
    int64_t begun_ms;          /* when it said that it has begun */
    uint64_t samples, lost;    /* as it says at its end */
};

struct fleet_absent {
    pid_t pid;
    enum fleet_absence why;
};

struct fleet {
    struct fleet_host *at;     /* owned; those that were recorded come first, n of them */
    uint32_t n;
    struct fleet_absent *absent; /* owned */
    uint32_t n_absent, n_processes;
    int64_t until_ms;          /* when the window ends */
    bool is_over;              /* a signal has ended it before */
    jsprof_reader *reader;     /* owned */
    struct jsp_export_host *hosts; /* owned: of all captures that could be read */
    uint32_t n_hosts;
    const char *const *labels; /* borrowed, set after fleet_record: see struct jsp_export */
    uint32_t n_labels;
};

/* Record. Return 0, -ENOENT: no process listens, -EBUSY: others record them all, -ETIME: none
 * answers, -EAGAIN: others record some, and the rest does not answer, -ECANCELED: nobody wants
 * it any more, -EMFILE: there are too many, or -ENOMEM. In any case call fleet_free. */
int fleet_record(struct fleet *f, const struct fleet_ask *ask);

/* Read the captures as one profile, with all stacks, for this format. Return 0 or a negative
 * errno. */
int fleet_read(struct fleet *f, jsp_export_write *format);

/* Close and free everything. */
void fleet_free(struct fleet *f);

/* Write the profile into memory in this format. Return 0 or a negative errno. */
int fleet_write(struct fleet *f, jsp_export_write *format, struct jsp_bytes *out);

/* After fleet_read: return how many processes are in the profile, and how many are not and why, as
 * KEY=NUMBER. */
enum { FLEET_COUNTS = 160 };
const char *fleet_counts(char out[FLEET_COUNTS], const struct fleet *f);

#endif
