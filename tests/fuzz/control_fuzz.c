/* control_fuzz.c - any bytes as what a peer of the control socket sends: in one piece to the
 * reader of requests, and in pieces through a real connection.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clocks.h"
#include "control/peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_fail(bool bad)
{
    if (bad)
        abort();
}

/* What is accepted is within its limits. */
static void fuzz_line(const char *line, size_t n)
{
    struct jsp_request r;
    uint32_t word = UINT32_MAX;
    int err = jsp_request_read(&r, line, n, &word);
    fuzz_fail(word == UINT32_MAX || (err && word > n));
    if (err)
        return;
    fuzz_fail(r.verb > JSP_REQUEST_CALLS || r.hz < 1 || r.hz > 10000 || r.modes > 15);
    fuzz_fail(r.stall_us > 3600000000u);
    fuzz_fail(r.clock < 0 || r.clock >= JSP_N_CLOCKS);
    for (; n && *line == ' '; n--)
        line++;
    fuzz_fail(n < strlen("jsprof 1 info") || memcmp(line, "jsprof ", 7) != 0);
}

static void fuzz_peer(const uint8_t *data, size_t size)
{
    struct jsp_peer peer;
    size_t sent = 0;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0)
        return;
    jsp_peer_open(&peer, ends[0], 0);
    enum jsp_peer_news news = JSP_PEER_WAITS;
    while (news != JSP_PEER_ENDED) {
        size_t piece = sent < size ? 1 + data[sent] % 64u : 0;
        piece = piece < size - sent ? piece : size - sent;
        if (piece && send(ends[1], data + sent, piece, MSG_NOSIGNAL) != (ssize_t)piece)
            break;
        sent += piece;
        if (!piece)
            shutdown(ends[1], SHUT_WR);
        news = jsp_peer_receive(&peer);
        fuzz_fail(peer.n > JSP_CONTROL_LINE);
        fuzz_fail(news == JSP_PEER_LINE && !jsp_peer_has_line(&peer));
        while (news == JSP_PEER_LINE && jsp_peer_has_line(&peer)) {
            uint32_t before = peer.n;
            fuzz_line(peer.line, jsp_peer_line(&peer));
            jsp_peer_next(&peer);
            fuzz_fail(peer.n >= before);
        }
    }
    jsp_peer_close(&peer);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_line((const char *)data, size);
    fuzz_peer(data, size);
    return 0;
}
