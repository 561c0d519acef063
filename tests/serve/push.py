# push.py - jsprof push against an engine that fails, asks to wait, refuses and takes.
# Arguments: the command, the number of a process that spins.
#
# SPDX-License-Identifier: MIT
import base64
import gzip
import http.server
import json
import os
import subprocess
import sys
import threading
import time

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
        if status == NEVER:
            time.sleep(13)
            return
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "2")
        self.end_headers()

    def log_message(self, *words):
        pass


def push(*words, seconds="2", queue="queue"):
    command = [jsprof, "push", "--seconds", seconds, "--queue", queue, "--pid", pid, *words]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def end(process, status, *texts):
    error = process.communicate(timeout=120)[1]
    check(process.returncode == status, "status %d: %s" % (process.returncode, error))
    for text in texts:
        check(text in error, "does not say %r: %s" % (text, error))
    return error


def sends(*words):
    """Push windows until one has samples: a busy machine may give the process no time in a second.
    Return the path, the headers and the body of its request."""
    for _ in range(10):
        engine.seen = []
        end(push("--windows", "1", *words), 0)
        if engine.seen:
            return engine.seen[-1][2:]
    sys.exit("no window has a sample")


# Pyroscope: the engine fails, closes the connection, answers nonsense, never answers, asks to wait,
# and then takes the window.
engine = Engine([503, 0, NONSENSE, NEVER, 429])
address = "http://127.0.0.1:%d" % engine.server_port
open("basic", "w").write("user:secret\n")
end(push("--to", "pyroscope", "--windows", "1", "--basic-file", "basic", "--tenant", "t1",
         "--label", "env=test{1}", address), 0, "does not take them", "takes them again",
    "1 profiles of 1 windows", "1 sent, 0 refused, 0 dropped, 0 wait")
tries = [s[0] for s in engine.seen]
check(tries == [503, 0, NONSENSE, NEVER, 429, 200], "tries: %s" % tries)
check(len({s[4] for s in engine.seen}) == 1, "the tries have different bodies")
check(engine.seen[5][1] - engine.seen[4][1] >= 2, "does not wait as long as it is asked to")
_, _, path, headers, body = engine.seen[-1]
check(path.startswith("/ingest?name=lark%7Bpid%3D" + pid) and "env%3Dtest_1_" in path and
      "format=pprof" in path, path)
check(headers["Authorization"] == "Basic " + base64.b64encode(b"user:secret").decode(), "auth")
check(headers["X-Scope-OrgID"] == "t1", "no tenant")
profile = gzip.decompress(body)
check(b"spin (spin.lark:1)" in profile and pid.encode() in profile, "is no profile")
check(not os.listdir("queue"), "leaves %s" % os.listdir("queue"))

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
path, headers, body = sends("--to", "otlp", address)
check(path == "/v1development/profiles" and headers["Content-Type"] == "application/x-protobuf",
      path)
check(b"process.runtime.name" in body and b"spin (spin.lark:1)" in body, "is no profile")
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
limit = time.monotonic() + 60
while len(os.listdir("queue")) < 2:
    check(time.monotonic() < limit, "nothing waits on disk")
    time.sleep(0.1)
process.kill()
process.communicate()
time.sleep(0.3)
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
process = push("--to", "pyroscope", "--windows", "1", "--queue-mib", "1", "http://127.0.0.1:9")
limit = time.monotonic() + 60
while os.path.exists("queue/000000000000000000000-000000.push"):
    check(time.monotonic() < limit, "the queue has no bound")
    time.sleep(0.1)
process.terminate()
end(process, 1, "1 dropped", "1 wait")

# What is no request in the queue is dropped and counted.
engine = Engine([], port)
with open("queue/000000000000000000000-000001.push", "wb") as f:
    f.write(b"\x00\xff")
end(push("--to", "pyroscope", "--windows", "1", address), 1, "2 sent", "1 dropped, 0 wait")
