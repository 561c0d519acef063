# serve.py - asks jsprof serve as good, bad and slow clients do. Arguments: the command, the numbers
# of two processes that spin, and of one that sleeps.
#
# SPDX-License-Identifier: MIT
import atexit
import gzip
import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.environ["SRCDIR"] + "/tests/export")
from otlp import Message
from terminal import check

jsprof, pids, asleep = sys.argv[1], [int(word) for word in sys.argv[2:4]], int(sys.argv[4])
server = subprocess.Popen([jsprof, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE,
                          text=True)
atexit.register(lambda: server.kill())  # whichever runs then
line = server.stdout.readline()
port = int(line.split(":")[2].split("/")[0])
token = line.strip().split("token=")[1]
check(len(token) == 32, "prints no token: " + line)


def ask(path, token=token, method="GET", host=None, seconds=60):
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    c.putrequest(method, path, skip_host=host is not None)
    if host:
        c.putheader("Host", host)
    if token:
        c.putheader("Authorization", "Bearer " + token)
    c.endheaders()
    answer = c.getresponse()
    body = answer.read()
    return answer.status, body, answer


def states():
    rows = json.loads(ask("/debug/jsprof/ps")[1])["rows"]
    return {row["process"]: row["state"] for row in rows if row["process"] in pids}


def until_ready():
    end = time.monotonic() + 30
    while set(states().values()) != {"ready"}:
        check(time.monotonic() < end, "processes are not ready: %s" % states())
        time.sleep(0.1)


# Who may ask, and for what.
refused = time.monotonic()
check(ask("/debug/pprof/", token=None)[0] == 401, "answers without a token")
check(ask("/debug/pprof/", token=token[:-1] + "g")[0] == 401, "answers with a wrong token")
check(ask("/debug/pprof/", token=token + token)[0] == 401, "answers with two tokens")
check(ask("/debug/pprof/", host="evil.example:%d" % port)[0] == 403, "answers another host's name")
check(ask("/debug/pprof/", host="localhost")[0] == 200, "does not answer as localhost")
check(ask("/debug/pprof/?token=" + token, token=None)[0] == 200, "takes no token of the query")
check(ask("/debug/pprof/", method="POST")[0] == 405, "takes a POST")
check(ask("/debug/pprof/heap")[0] == 404, "has a profile that it has not")
for query in "seconds=0", "seconds=301", "seconds=x", "seconds=", "hz=0", "pid=-1", "clock=moon":
    check(ask("/debug/pprof/profile?" + query)[0] == 400, "takes " + query)
check(ask("/debug/pprof/profile?pid=1")[0] == 503, "has a profile of process 1")
check(ask("/" + "x" * 500)[0] == 414, "takes a long path")
c = socket.create_connection(("127.0.0.1", port))
c.sendall(b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 2000)
check(b" 431 " in c.recv(100), "reads heads without an end")
c = socket.create_connection(("127.0.0.1", port))
c.sendall(b"GET / HTTP/1.1\r\nHost:\r\nHost: localhost\r\n\r\n")
check(b" 400 " in c.recv(100), "takes two hosts")

# Clients that are refused, and reset the connection.
for _ in range(20):
    c = socket.create_connection(("127.0.0.1", port))
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    c.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    c.close()
status, body, answer = ask("/debug/pprof/", method="HEAD")
check(status == 200 and not body, "HEAD has a body")
check(b"/debug/pprof/profile" in ask("/debug/pprof/")[1], "the index has no profile")

# With a twelfth of a processor a second has 83 samples at 1000 Hz: none of them comes with a chance
# of e^-83. At the usual 100 Hz it would be e^-8.
# Profiles, while 40 connections say nothing and one reads nothing.
silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
lazy = socket.create_connection(("127.0.0.1", port))
lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
lazy.sendall(b"GET /debug/jsprof/flamegraph?seconds=1 HTTP/1.1\r\nHost: localhost\r\n"
             b"Authorization: Bearer " + token.encode() + b"\r\n\r\n")
time.sleep(1.5)
until_ready()
start = time.monotonic()
status, body, answer = ask("/debug/pprof/profile?seconds=1&hz=1000")
took = time.monotonic() - start
check(status == 200, "no profile: %s" % body)
check(answer.getheader("Content-Type") == "application/octet-stream", "is of another type")
print("a profile of 1 s after %.2f s" % took)
check(0.95 <= took < 20, "a profile of 1 s takes %.1f s" % took)
profile = gzip.decompress(body)
for word in (b"spin (spin.lark:1)", b"turn (turn.lark:1)", b"lark", b"vm", b"pid", b"route",
             b"/of-spin", b"/of-turn"):
    check(word in profile, "the profile has no %s" % word)


def seconds_of(profile):
    """Its duration, which is that of the recordings."""
    return Message(profile)[10][0] / 1e9


# A recording may begin late, and is as much shorter.
lasted = seconds_of(profile)
check(0.5 <= lasted <= took, "a profile of 1 s is of %.3f s, after %.3f s" % (lasted, took))


def counts(answer):
    words = answer.getheader("X-Jsprof-Processes", "").split()
    return {key: int(n) for key, n in (word.split("=") for word in words)}


def with_counts(path, wanted):
    """Ask, and check which processes are there and not. Return the profile."""
    until_ready()
    status, body, answer = ask(path)
    check(status == 200, "%s: %d" % (path, status))
    check(counts(answer) == wanted, "%s: %s, not %s" % (path, counts(answer), wanted))
    return body


# It says who is not in it, and why.
all_there = {"present": 2, "idle": 1, "missed": 0, "busy": 0, "silent": 0}
profile = gzip.decompress(with_counts("/debug/pprof/profile?seconds=1&hz=1000", all_there))
check(b"2 of 3 processes are in the profile; no sample: %d" % asleep in profile,
      "the profile does not say that %d has no sample" % asleep)
with_counts("/debug/jsprof/report?seconds=1&hz=1000", all_there)
lasted = seconds_of(gzip.decompress(ask("/debug/pprof/profile?seconds=1&pid=%d" % asleep)[1]))
check(lasted >= 0.5, "a profile of 1 s without samples is of %.3f s" % lasted)
for s in silent + [lazy]:
    s.close()
status, body, answer = ask("/debug/jsprof/report?seconds=1&hz=1000&pid=%d" % pids[0])
check(status == 200 and b"spin (spin.lark:1)" in body and b"turn" not in body, "report: %s" % body)
status, body, answer = ask("/debug/jsprof/flamegraph?seconds=1&hz=1000&host=lark")
check(status == 200 and b"<html" in body and b"spin" in body, "flamegraph: %s" % body[:200])
body = with_counts("/debug/jsprof/otlp?seconds=1&hz=1000", all_there)
check(b"process.runtime.name" in body and b"/of-spin" in body, "otlp: %s" % body[:200])
status, body, answer = ask("/debug/pprof/profile?seconds=1&host=another")
check(status == 503 and b"has this pid or host" in body, "has a host that is not there: %s" % body)
status, body, answer = ask("/debug/jsprof/report?seconds=1")
check(b" of 3 processes" in body or b" of 2 processes" in body, "is of one process: %s" % body)

# A client that goes away ends the recording.
until_ready()
c = socket.create_connection(("127.0.0.1", port))
c.sendall(b"GET /debug/pprof/profile?seconds=200&pid=%d&token=" % pids[0] + token.encode() +
          b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
end = time.monotonic() + 30
while "recording" not in states().values():
    check(time.monotonic() < end, "does not record")
# Meanwhile another one gets a clear no.
status, body, answer = ask("/debug/pprof/profile?seconds=1&pid=%d" % pids[0])
check(status == 503 and b"another command records" in body, "%d %s" % (status, body))
c.close()
until_ready()

# So does one that closes only its side after the request, and it is told so.
c = socket.create_connection(("127.0.0.1", port))
c.sendall(b"GET /debug/pprof/profile?seconds=200&token=" + token.encode() +
          b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
c.shutdown(socket.SHUT_WR)
c.settimeout(60)
answer = b""
while got := c.recv(4096):
    answer += got
check(b" 503 " in answer and b"the client closed its side" in answer, "half-closed: %s" % answer)
c.close()
until_ready()

# A process that hangs does not keep the others' profile.
os.kill(pids[1], signal.SIGSTOP)
status, body, answer = ask("/debug/pprof/profile?seconds=2&hz=1000")
check(status == 200 and b"spin (spin.lark:1)" in gzip.decompress(body), "one hangs: %d" % status)
lasted = seconds_of(gzip.decompress(body))
check(lasted >= 1, "one hangs: a profile of 2 s is of %.3f s" % lasted)
check(b"no answer: %d" % pids[1] in gzip.decompress(body), "does not name the one that hangs")
check(counts(answer)["silent"] >= 1, "%s" % counts(answer))
status, body, answer = ask("/debug/pprof/profile?seconds=1&pid=%d" % pids[1])
check(status == 503 and b"give no answer" in body, "alone: %d %s" % (status, body))
os.kill(pids[1], signal.SIGCONT)
until_ready()

# A refused request ends nothing later, either: a child has 30 s to send its answer (LONG=1).
if os.environ.get("LONG"):
    time.sleep(max(0, refused + 32 - time.monotonic()))
check(ask("/debug/pprof/")[0] == 200, "is gone after refused requests")
server.terminate()
check(server.wait(30) == 0, "fails when it is ended")

# A socket of this user.
server = subprocess.Popen([jsprof, "serve", "--unix", "serve.sock"], stdout=subprocess.PIPE,
                          text=True)
server.stdout.readline()
check(os.stat("serve.sock").st_mode & 0o777 == 0o600, "others can connect")
for _ in range(20):
    c = socket.socket(socket.AF_UNIX)
    c.connect("serve.sock")
    c.sendall(b"POST / HTTP/1.1\r\nHost: x\r\n\r\n")
    c.close()
c = socket.socket(socket.AF_UNIX)
c.connect("serve.sock")
c.sendall(b"GET /debug/jsprof/ps HTTP/1.1\r\nHost: x\r\n\r\n")
answer = b""
while True:
    got = c.recv(4096)
    if not got:
        break
    answer += got
check(b"200 OK" in answer and str(pids[0]).encode() in answer, "the socket: %s" % answer)
server.terminate()
check(server.wait(30) == 0, "fails when it is ended")
check(not os.path.exists("serve.sock"), "leaves its socket")

# One that systemd passes.
listener = socket.create_server(("127.0.0.1", 0))
child = os.fork()
if child == 0:
    os.dup2(listener.fileno(), 3)
    os.environ.update({"LISTEN_FDS": "1", "LISTEN_PID": str(os.getpid())})
    os.execv(jsprof, [jsprof, "serve", "--no-token"])
port = listener.getsockname()[1]
check(ask("/debug/pprof/", token=None)[0] == 200, "does not serve a socket that is passed")
os.kill(child, signal.SIGTERM)
check(os.waitpid(child, 0)[1] == 0, "fails when it is ended")
