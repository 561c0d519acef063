# attacks.py - requests that are wrong, hostile or odd, each with the status that answers it, and
# clients that send a byte now and then. Argument: the command.
#
# SPDX-License-Identifier: MIT
import sys
import time

from serving import Server
from terminal import check

server = Server(sys.argv[1], "serve")
before = server.anonymous_kib()
LOCAL = b"Host: localhost\r\n"


def get(target, fields=LOCAL, version=b"HTTP/1.1"):
    return b"GET " + target + b" " + version + b"\r\n" + fields + b"\r\n"


def host(name):
    return get(b"/debug/pprof/", b"Host: " + name + b"\r\n")


port = b"%d" % server.port
CASES = {
    # Versions and connections.
    "HTTP/1.0": (get(b"/debug/pprof/", version=b"HTTP/1.0"), 200),
    "HTTP/1.0 without a Host": (get(b"/debug/pprof/", b"", b"HTTP/1.0"), 403),
    "HTTP/1.1 without a Host": (get(b"/debug/pprof/", b""), 400),
    "HTTP/0.9": (b"GET /debug/pprof/\r\n\r\n", 400),
    "HTTP/2.0": (get(b"/debug/pprof/", version=b"HTTP/2.0"), 400),
    "the preface of HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "the hello of TLS": (b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(502), 400),
    "keep-alive": (get(b"/debug/pprof/", LOCAL + b"Connection: keep-alive\r\n"), 200),
    "three requests at once": (3 * get(b"/debug/pprof/"), 200),
    # Hosts.
    "a Host with our port": (host(b"127.0.0.1:" + port), 200),
    "a Host of IPv6": (host(b"[::1]:" + port), 200),
    "a Host in capitals": (host(b"LOCALHOST"), 200),
    "an empty Host": (host(b""), 403),
    "a subdomain of another's": (host(b"localhost.evil.example"), 403),
    "an address in another's name": (host(b"127.0.0.1.nip.io"), 403),
    "a name with a dot": (host(b"localhost."), 403),
    "a port that is another's name": (host(b"localhost:80@evil.example"), 403),
    "a port that is no number": (host(b"localhost:x"), 403),
    "another address": (host(b"0.0.0.0"), 403),
    "a Host of two words": (host(b"localhost evil.example"), 400),
    "two Hosts": (get(b"/debug/pprof/", 2 * LOCAL), 400),
    "a blank before the colon": (get(b"/debug/pprof/", b"Host : localhost\r\n"), 400),
    # The absolute form: its name replaces the Host.
    "absolute": (get(b"http://127.0.0.1:" + port + b"/debug/pprof/"), 200),
    "absolute, in capitals": (get(b"HTTP://LOCALHOST/debug/pprof/?a=b"), 200),
    "absolute, another Host": (get(b"http://localhost/debug/pprof/", b"Host: evil.example\r\n"),
                               200),
    "absolute, another's name": (get(b"http://evil.example/debug/pprof/"), 403),
    "absolute, a user of our name": (get(b"http://localhost@evil.example/debug/pprof/"), 403),
    "absolute, a user": (get(b"http://evil.example@localhost/debug/pprof/"), 403),
    "absolute, without a name": (get(b"http:///debug/pprof/"), 400),
    "absolute, without a path": (get(b"http://localhost"), 404),
    "absolute, a query alone": (get(b"http://localhost?a=b"), 404),
    "absolute, without a Host": (get(b"http://localhost/debug/pprof/", b""), 400),
    "absolute, a long name": (get(b"http://" + b"a" * 300 + b"/debug/pprof/"), 400),
    "absolute, of TLS": (get(b"https://localhost/debug/pprof/"), 400),
    "absolute, of FTP": (get(b"ftp://localhost/debug/pprof/"), 400),
    # Methods and targets.
    "CONNECT": (b"CONNECT localhost:80 HTTP/1.1\r\n" + LOCAL + b"\r\n", 405),
    "OPTIONS": (b"OPTIONS * HTTP/1.1\r\n" + LOCAL + b"\r\n", 405),
    "a method in small letters": (b"get / HTTP/1.1\r\n" + LOCAL + b"\r\n", 405),
    "a star": (get(b"*"), 400),
    "no slash": (get(b"debug/pprof/"), 400),
    "a path up": (get(b"/debug/../debug/pprof/"), 404),
    "an escaped letter": (get(b"/debug/%70prof/"), 200),
    "an escaped NUL": (get(b"/debug/pprof/%00"), 400),
    "an escape that is none": (get(b"/debug/pprof/%zz"), 400),
    "an escape that is cut": (get(b"/debug/pprof/%4"), 400),
    "a NUL": (get(b"/debug/pprof/\0"), 400),
    "a NUL in a field": (get(b"/debug/pprof/", LOCAL + b"a: \0\r\n"), 400),
    "two blanks": (get(b" /debug/pprof/"), 400),
    "a query of 7 KB": (get(b"/debug/pprof/?" + b"a" * 7000), 414),
    "a head of 9 KB": (get(b"/debug/pprof/", LOCAL + b"a: " + b"b" * 9000 + b"\r\n"), 431),
    "a long token": (get(b"/debug/pprof/", LOCAL + b"Authorization: Bearer " + b"a" * 300 +
                         b"\r\n"), 431),
    # Bodies.
    "chunked": (get(b"/debug/pprof/", LOCAL + b"Transfer-Encoding: chunked\r\n") +
                b"5\r\nhello\r\n0\r\n\r\n", 413),
    "a body": (get(b"/debug/pprof/", LOCAL + b"Content-Length: 5\r\n") + b"hello", 413),
    "a body of nothing": (get(b"/debug/pprof/", LOCAL + b"Content-Length: 0\r\n"), 200),
    "a length and chunked": (get(b"/debug/pprof/", LOCAL + b"Content-Length: 0\r\n"
                                 b"Transfer-Encoding: chunked\r\n"), 413),
    # No process listens here: a time that is one is a 503.
    "a second, escaped": (get(b"/debug/pprof/profile?seconds=%31"), 503),
}
for word in ("0", "-1", "+1", "1e9", "nan", "inf", "1.5", "0x1", "%30", "301", "", " 1",
             "99999999999999999999", "18446744073709551617", "1%00"):
    CASES["seconds=" + word] = (get(b"/debug/pprof/profile?seconds=" + word.encode()), 400)

for name, (request, status) in CASES.items():
    answer = server.send(request)
    check(answer.startswith(b"HTTP/1.1 %d " % status), "%s: not %d: %r" % (name, status, answer))
    check(answer.count(b"HTTP/1.1 ") == 1, "%s: more than one answer" % name)
    check(b"\r\nConnection: close\r\n" in answer, "%s: goes on: %r" % (name, answer))
print("%d requests have their answers" % len(CASES))


class Slow:
    """A client that sends a byte now and then, or its request, which has no end, at once."""

    def __init__(self, request, at_once=False):
        self.begun = time.monotonic()
        self.lived = None
        self.socket = server.connect()
        self.left = request
        if at_once:
            self.socket.sendall(request)
            self.left = b""
        self.socket.setblocking(False)

    def turn(self):
        try:
            if self.left:
                self.socket.send(self.left[:1])
                self.left = self.left[1:]
            got = self.socket.recv(100)
            check(not got, "a slow client gets %r" % got)
        except BlockingIOError:
            return
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.lived = time.monotonic() - self.begun
        self.socket.close()


# Each is cut after ten seconds, however often it sends. The server has room for 32 connections, so
# no other one is cut for their sake; whoever else asks is answered.
endless = get(b"/debug/pprof/")[:-2] + b"a: " + b"b" * 4000
slow = [Slow(endless) for _ in range(20)]
slow += [Slow(get(b"/debug/pprof/").replace(b"\r\n", end), at_once=True) for end in (b"\n", b"\r")]
slow += [Slow(endless, at_once=True) for _ in range(4)]
asked = 0
limit = time.monotonic() + 90
while any(client.lived is None for client in slow):
    check(time.monotonic() < limit, "slow clients are never cut")
    for client in slow:
        if client.lived is None:
            client.turn()
    check(server.ask("/debug/pprof/")[0] == 200, "answers nobody else")
    asked += 1
    time.sleep(0.1)
lives = [client.lived for client in slow]
print("slow clients were cut after %.1f to %.1f s; %d others had their answers" %
      (min(lives), max(lives), asked))
check(min(lives) > 9, "cuts one after %.1f s" % min(lives))
check(asked > 3, "answers %d others" % asked)

# Whatever they send, it takes no memory that was not there before.
flood = [Slow(endless + b"c" * 4000, at_once=True) for _ in range(100)]
check(server.ask("/debug/pprof/")[0] == 200, "answers nobody else")
grown = server.anonymous_kib() - before
print("the server has grown by %d KiB" % grown)
check(grown <= 1024, "grows by %d KiB" % grown)
check(server.end() == 0, "fails when it is ended")
