/* control/coming.c - see coming.h for the contract.
 *
 * SPDX-License-Identifier: MIT
 */
#include "coming.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t coming_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stat coming_file;  /* of `coming_fd` */
static int coming_fd = -1;       /* a session is taking it over; -1: none */

void jsp_coming_begin(void)
{
    pthread_mutex_lock(&coming_lock);
}

void jsp_coming_end(void)
{
    pthread_mutex_unlock(&coming_lock);
}

int jsp_coming_hand(struct jsp_peer *peer, jsprof *p, struct jsp_session_aim *aim)
{
    jsp_coming_begin();
    aim->fd = peer->passed;
    int err = fstat(aim->fd, &coming_file) < 0 ? -errno : 0;
    if (!err) {
        coming_fd = aim->fd;
        peer->passed = -1;
    }
    jsp_coming_end();
    if (err)
        return err;
    err = jsp_session_record(p, aim);
    coming_fd = -1;
    return err;
}

void jsp_coming_drop(void)
{
    struct stat is;
    if (coming_fd >= 0 && fstat(coming_fd, &is) == 0 && is.st_dev == coming_file.st_dev &&
        is.st_ino == coming_file.st_ino)
        close(coming_fd);
    coming_fd = -1;
}
