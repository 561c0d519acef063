/* cli/serve.h - serves one file over HTTP, to this machine only.
 *
 * The server listens on the loopback address only. The path of the file can not be guessed,
 * and only the pages of one origin may read it. The server refuses requests for another host's
 * name, because any web page can let its name resolve to this machine. It answers up to 32
 * connections side by side, so a silent one delays no other, and closes each after a limit of
 * time. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_CLI_SERVE_H
#define JSP_CLI_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_serve {
    const char *name;   /* last part of the path: letters, digits, dots and dashes */
    const char *origin; /* whose pages may read it: "https://..." */
    const void *body;
    size_t n;
    bool is_once;       /* end after the file was read once */

    int fd;
    uint16_t port;
    char path[128];     /* "/token/name" */
    uint64_t n_read;    /* how often the whole file was sent */
};

/* Listen on a port; 0 is any free port. Return 0 or a negative errno. */
int cli_serve_open(struct cli_serve *s, uint16_t port);

/* Answer requests until SIGINT, SIGTERM or SIGHUP, or with is_once until the file was read.
 * Then close the port. Return 0 or a negative errno. */
int cli_serve_run(struct cli_serve *s);

#endif
