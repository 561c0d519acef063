# push.py - jsprof push against an engine that fails, asks to wait, refuses and takes.
# Arguments: the command, the number of a process that spins.
#
# SPDX-License-Identifier: MIT
import base64
import gzip
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

from serving import children
from terminal import check

jsprof, pid = sys.argv[1:3]


NONSENSE, NEVER = -1, -2  # in place of a status


class Engine(http.server.ThreadingHTTPServer):
    """Answers with `plan`, one status after another, and then 200."""

    def __init__(self, plan, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.plan, self.seen = list(plan), []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.server.plan.pop(0) if self.server.plan else 200
        self.server.seen.append((status, time.monotonic(), self.path, dict(self.headers), body))
        if status == 0:  # no answer
            return
        if status == NONSENSE:
            self.wfile.write(b"\x00\xff no HTTP\r\n\r\n" * 1000)
            return
        if isinstance(status, bytes):  # the whole answer
            self.wfile.write(status)
            return
        if status == NEVER:
            time.sleep(13)
            return
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "2")
        self.end_headers()

    def log_message(self, *words):
        pass


def push(*words, seconds="1", queue="queue"):
    command = [jsprof, "push", "--seconds", seconds, "--hz", "1000", "--queue", queue, "--pid", pid,
               *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def end(process, status, *texts):
    error = process.communicate(timeout=120)[1]
    check(process.returncode == status, "status %d: %s" % (process.returncode, error))
    for text in texts:
        check(text in error, "does not say %r: %s" % (text, error))
    return error


def account(error):
    """Return the counts of the summary: made, sent, refused, dropped, wait."""
    words = r"(\d+) profiles? of .* (\d+) sent, (\d+) refused, (\d+) dropped, (\d+) wait"
    return [int(n) for n in re.search(words, error).groups()]


def until(what, complaint):
    limit = time.monotonic() + 90
    while not what():
        check(time.monotonic() < limit, complaint)
        time.sleep(0.1)


def requests(folder):
    return [f for f in os.listdir(folder) if f.endswith(".push")] if os.path.isdir(folder) else []


def sends_what_waits(folder, bodies, *texts, status=0):
    """Send requests that wait in a queue, and record nothing."""
    os.makedirs(folder, exist_ok=True)
    os.makedirs("nothing", exist_ok=True)
    engine.seen = []
    for n, body in enumerate(bodies):
        with open("%s/9%05d.push" % (folder, n), "wb") as f:
            f.write(b"/ingest\nx\n" + body)
    return end(push("--from", "nothing", "--to", "pyroscope", address, queue=folder), status,
               *texts)


def sends(*words):
    """Push a window. Return the path, the headers and the body of its request."""
    engine.seen = []
    end(push("--windows", "1", *words), 0)
    check(engine.seen, "the window has no sample")
    return engine.seen[-1][2:]


# Pyroscope: the engine fails, closes the connection, answers nonsense, never answers (LONG=1: the
# client waits for it for 10 s), asks to wait, and then takes the window.
plan = [503, 0, NONSENSE, *([NEVER] if os.environ.get("LONG") else []), 429]
engine = Engine(plan)
address = "http://127.0.0.1:%d" % engine.server_port
open("basic", "w").write("user:secret\n")
end(push("--to", "pyroscope", "--windows", "1", "--basic-file", "basic", "--tenant", "t1",
         "--label", "env=test{1}", address), 0, "does not take them", "takes them again",
    "1 profile of 1 window, ", "1 sent, 0 refused, 0 dropped, 0 wait")
tries = [s[0] for s in engine.seen]
check(tries == [*plan, 200], "tries: %s" % tries)
check(len({s[4] for s in engine.seen}) == 1, "the tries have different bodies")
check(engine.seen[-1][1] - engine.seen[-2][1] >= 2, "does not wait as long as it is asked to")
_, _, path, headers, body = engine.seen[-1]
check(path.startswith("/ingest?name=lark%7Bpid%3D" + pid) and "env%3Dtest_1_" in path and
      "format=pprof" in path, path)
check(headers["Authorization"] == "Basic " + base64.b64encode(b"user:secret").decode(), "auth")
check(headers["X-Scope-OrgID"] == "t1", "no tenant")
profile = gzip.decompress(body)
check(b"spin (spin.lark:1)" in profile and pid.encode() in profile, "is no profile")
check(not os.listdir("queue"), "leaves %s" % os.listdir("queue"))

# A second command on the queue gets a clear no, and the first one goes on.
first = push("--to", "pyroscope", address, queue="q.two")
taken = len(engine.seen)
until(lambda: len(engine.seen) > taken, "sends nothing")
error = end(push("--to", "pyroscope", "--windows", "1", address, queue="q.two"), 2,
            "another push uses the queue q.two: name another with --queue")
check(error.count("\n") == 1, "not one line: " + error)
first.terminate()
check("gone from the queue" not in end(first, 0, " 0 refused, 0 dropped"), "is disturbed")

# One that is killed leaves the queue to the next one soon: a signal ends the window, too.
first = push("--to", "pyroscope", address, seconds="3000", queue="q.two")
until(lambda: children(first.pid), "has no recorder")
first.kill()
first.communicate()
first = push("--to", "pyroscope", address, seconds="3000", queue="q.two")
until(lambda: children(first.pid), "does not get the queue of one that was killed")
first.terminate()
end(first, 0, " 0 refused, 0 dropped")

# What is refused is counted and not sent again.
engine.plan, engine.seen = [422], []
end(push("--to", "pyroscope", "--windows", "1", address), 1, "1 refused", "HTTP status 422")
check(len(engine.seen) == 1, "sends a refused profile again")

# Parca, PusherService, OTLP, a folder.
open("token", "w").write("secret\n")
path, headers, body = sends("--to", "parca", "--token-file", "token", address + "/base/")
check(path == "/base/api/profiles/writeraw", path)
check(headers["Authorization"] == "Bearer secret", "no token")
(series,) = json.loads(body)["series"]
labels = {pair["name"]: pair["value"] for pair in series["labels"]["labels"]}
check(labels["job"] == "lark" and labels["pid"] == pid, labels)
check(b"spin" in gzip.decompress(base64.b64decode(series["samples"][0]["rawProfile"])), "profile")
path, headers, body = sends("--to", "pusher", "--label", "env=test", address)
check(path == "/push.v1.PusherService/Push" and headers["Content-Type"] == "application/json", path)
(series,) = json.loads(body)["series"]
labels = {pair["name"]: pair["value"] for pair in series["labels"]}
check(labels["__name__"] == "process_cpu" and labels["service_name"] == "lark" and
      labels["pid"] == pid and labels["env"] == "test", labels)
check(b"spin" in gzip.decompress(base64.b64decode(series["samples"][0]["rawProfile"])), "profile")
path, headers, body = sends("--to", "otlp", "--label", "env=none", "--label", "env=test",
                            "--label", "service.name=shop", address)
check(path == "/v1development/profiles" and headers["Content-Type"] == "application/x-protobuf",
      path)
check(b"process.runtime.name" in body and b"spin (spin.lark:1)" in body, "is no profile")
check(body.count(b"\x0a\x03env") == 1 and b"test" in body and b"none" not in body, "env")
check(body.count(b"service.name") == 1 and b"shop" in body, "service.name")
open("sent.otlp", "wb").write(body)
os.mkdir("folder")
end(push("--to", "folder", "--windows", "2", "folder"), 0, "2 sent")
files = os.listdir("folder")
check(len(files) == 2 and all(f.startswith("lark-%s-" % pid) and f.endswith(".pb.gz")
                              for f in files), files)

# An engine that is away: windows wait on disk, also when the command is killed; one that comes back
# gets them in their order, and the new ones.
port = engine.server_port
engine.shutdown()
engine.server_close()
process = push("--to", "pyroscope", address)
until(lambda: len(requests("queue")) >= 2, "nothing waits on disk")
recorders = children(process.pid)
process.kill()
process.communicate()
until(lambda: not any(os.path.exists("/proc/%d" % pid) for pid in recorders), "its child goes on")
waiting = len([f for f in os.listdir("queue") if f.endswith(".push")])
engine = Engine([], port)
end(push("--to", "pyroscope", "--windows", "1", address), 0, "%d sent" % (waiting + 1),
    "0 dropped, 0 wait")
times = [int(s[2].split("until=")[1].split("&")[0]) for s in engine.seen]
check(len(times) == waiting + 1 and times == sorted(times), "order: %s" % times)

# The queue is bounded, and what makes place is counted.
engine.shutdown()
engine.server_close()
with open("queue/000000000000000000000-000000.push", "wb") as f:
    f.write(b"/ingest\nx\n" + b"y" * (1 << 20))
process = push("--to", "pyroscope", "--queue-mib", "1", "http://127.0.0.1:9")
until(lambda: not os.path.exists("queue/000000000000000000000-000000.push"), "has no bound")
until(lambda: requests("queue"), "nothing waits")
process.terminate()
made, *rest, wait = account(end(process, 1, "1 dropped"))
check(wait == made and wait, "%d made, %d wait" % (made, wait))

# What is no request in the queue is dropped and counted.
engine = Engine([], port)
with open("queue/000000000000000000000-000001.push", "wb") as f:
    f.write(b"\x00\xff")
end(push("--to", "pyroscope", "--windows", "1", address), 1, "%d sent" % (wait + 1),
    "1 dropped, 0 wait")

# A status line is an answer, whatever follows it: what the engine took is not sent again. Answers
# that another one follows are none, and so is the beginning of a status line.
engine.plan = [b"HTTP/1.1 200 OK\r\nSet-Cookie: " + b"a" * 5000 + b"\r\n\r\n",
               b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", b"HTTP/1.1 200 OK\r\n",
               b"HTTP/1.1 204", b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
               b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 202 A\r\nA: " +
               b"a" * 100000]
sends_what_waits("q.heads", [b"%d" % n for n in range(6)], "6 sent, 0 refused, 0 dropped, 0 wait")
bodies = [s[4] for s in engine.seen]
check(bodies == [b"%d" % n for n in range(6)], "sends again: %s" % bodies)
engine.plan = [b"HTTP/1.1 20", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 2000 OK\r\n\r\n"]
sends_what_waits("q.heads", [b"x"], "1 sent, 0 refused", "does not take them: Protocol error")
check(len(engine.seen) == 4, "takes half an answer: %d tries" % len(engine.seen))

# A time to wait that is none is not obeyed; the line has the time in any case.
for words in (b"-1", b"2 hours", b"-", b"99999999999x"):
    engine.plan = [b"HTTP/1.1 429 Later\r\nRetry-After: " + words + b"\r\n\r\n"]
    error = sends_what_waits("q.after", [b"x"], "1 sent, 0 refused")
    check(re.search(r"429: 1 profile waits, 0\.\d s until the next try", error), error)
engine.plan = [b"HTTP/1.1 503 Later\nretry-after:\t2 \n\n"]
sends_what_waits("q.after", [b"x"], "503: 1 profile waits, 2.0 s until the next try")
engine.plan = [b"HTTP/1.1 503 Later\r\nRetry-After: 999999999999999999999\r\n\r\n"]
with open("q.after/1.push", "wb") as f:
    f.write(b"/ingest\nx\ny")
process = push("--from", "nothing", "--to", "pyroscope", address, queue="q.after")
line = process.stderr.readline()
check("3600.0 s until the next try" in line, line)
process.terminate()
end(process, 0, "1 wait")

# What is no regular file stops nothing.
os.mkdir("q.odd")
os.mkdir("q.odd/000.push")
os.symlink("/dev/zero", "q.odd/001.push")
os.mkfifo("q.odd/002.push")
error = sends_what_waits("q.odd", [b"x", b"y"], "2 sent, 0 refused, 0 dropped, 0 wait",
                         "q.odd/000.push: is no regular file")
check(error.count("\n") == 2, "not one line: " + error)
with open("q.odd/003.push", "wb") as f:
    f.truncate(65 << 20)
sends_what_waits("q.odd", [b"x"], "1 sent, 0 refused, 1 dropped, 0 wait", status=1)

# A recorder that is killed is said and begun again.
engine.seen = []
process = push("--to", "pyroscope", address, queue="q.killed")
until(lambda: engine.seen, "sends nothing")
for child in children(process.pid):
    os.kill(child, signal.SIGKILL)
seen = len(engine.seen)
until(lambda: len(engine.seen) >= seen + 2, "sends nothing after its recorder was killed")
process.terminate()
error = end(process, 1, "was killed by signal 9: its window is lost; it begins again")
made, *rest = account(error)
check(made == sum(rest), error)

# A queue that is removed is made again; while it can not be made, the account goes on. Its profiles
# are counted in any case.
engine.plan = [503] * 10000
with open("q.err", "w") as err:
    process = subprocess.Popen([jsprof, "push", "--seconds", "1", "--hz", "1000", "--queue",
                                "q.gone", "--pid", pid, "--to", "pyroscope", address], stderr=err)
until(lambda: requests("q.gone"), "nothing waits")
shutil.rmtree("q.gone")
until(lambda: requests("q.gone"), "the queue is not made again")
while not os.path.isfile("q.gone"):
    shutil.rmtree("q.gone", ignore_errors=True)
    try:
        open("q.gone", "x").close()
    except FileExistsError:
        pass
until(lambda: "no profile can be put there" in open("q.err").read(), "loses them without a word")
os.unlink("q.gone")
until(lambda: requests("q.gone"), "the queue is not made again")
process.terminate()
check(process.wait(60) == 1, "status %d" % process.returncode)
error = open("q.err").read()
check(error.count("no profile can be put there: Not a directory") == 1, error)
check("the folder was removed" in error and "can be put there again" in error, error)
made, sent, refused, dropped, wait = account(error)
check(made == sent + refused + dropped + wait and dropped and wait, error)
engine.plan = []
