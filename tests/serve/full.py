# full.py - jsprof serve and push on a disk that is full or can only be read, and with a queue that
# is removed while two commands use it. Arguments: the command, the number of a process that spins.
# The folder "disk" is a small file system.
#
# SPDX-License-Identifier: MIT
import atexit
import http.server
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

from serving import Server, children
from terminal import check

jsprof, pid = sys.argv[1:]
DISK = os.path.abspath("disk")


def fill():
    """Leave no byte on the disk."""
    with open(DISK + "/others", "ab", buffering=0) as f:
        for size in (4096, 1):
            try:
                while True:
                    f.write(b"x" * size)
            except OSError:
                pass


def until(what, complaint):
    limit = time.monotonic() + 90
    while not what():
        check(time.monotonic() < limit, complaint)
        time.sleep(0.05)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        is_away = self.server.is_away
        if not is_away:
            self.server.seen.append(body)
        self.send_response(503 if is_away else 200)
        self.end_headers()

    def log_message(self, *words):
        pass


engine = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
engine.seen, engine.is_away = [], False
threading.Thread(target=engine.serve_forever, daemon=True).start()
address = "http://127.0.0.1:%d" % engine.server_port


class Push:
    """A command that pushes; what it says is in `name`.err."""

    def __init__(self, name, *words, to=("pyroscope", address)):
        self.err = name + ".err"
        with open(self.err, "w") as err:
            self.process = subprocess.Popen([jsprof, "push", "--seconds", "1", "--hz", "1000",
                                             "--pid", pid, *words, "--to", *to], stderr=err)
        atexit.register(self.process.kill)

    def said(self, text):
        with open(self.err) as f:
            return f.read().count(text)

    def until_said(self, text):
        until(lambda: self.said(text), "%s does not say: %s" % (self.err, text))

    def end(self, status):
        """End it. Return what it said, and how many were made, sent, refused, dropped, and wait."""
        self.process.terminate()
        self.process.wait(60)
        with open(self.err) as f:
            text = f.read()
        check(self.process.returncode == status, "status %d: %s" % (self.process.returncode, text))
        words = r"(\d+) profiles? of .* (\d+) sent, (\d+) refused, (\d+) dropped, (\d+) wait"
        return text, [int(n) for n in re.search(words, text).groups()]

    def whole(self, status, lines, before=0):
        """End it, after so many lines. Return how many were sent and dropped; the sum is right."""
        text, (made, sent, refused, dropped, wait) = self.end(status)
        check(text.count("\n") == lines + 1, "not %d lines and the sum: %s" % (lines, text))
        check(made + before == sent + refused + dropped + wait, text)
        return sent, dropped


def requests(folder):
    return [f for f in os.listdir(folder) if f.endswith(".push")] if os.path.isdir(folder) else []


# serve writes no file: a full disk is nothing to it, also where all of its folders are there.
# At 1000 Hz a process that gets 24 ms of a second has 24 samples: none with a chance of e^-24.
fill()
server = Server(jsprof, "serve", cwd=DISK, env={**os.environ, "TMPDIR": DISK, "HOME": DISK})
for path in "pprof/profile", "jsprof/otlp", "jsprof/report", "jsprof/flamegraph":
    status, body, _ = server.ask("/debug/%s?seconds=1&hz=1000" % path)
    check(status == 200 and body, "a full disk: %s: %d %s" % (path, status, body[:200]))
check(server.end() == 0, "fails when it is ended")
check(os.listdir(DISK) == ["others"], "leaves %s" % os.listdir(DISK))


# A limit of the size of files is of those in memory, too: one line, and the next one is answered.
def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))


server = Server(jsprof, "serve", preexec_fn=limit)
status, body, _ = server.ask("/debug/jsprof/flamegraph?seconds=1&hz=1000")
check(status == 503 and body.count(b"\n") == 1 and b"File too large" in body,
      "files are limited: %d %s" % (status, body[:200]))
check(server.ask("/debug/pprof/")[0] == 200, "files are limited: is gone")
check(server.end() == 0, "fails when it is ended")
print("serve: the disk is full, and files are limited")

# push: what does not fit is counted, which one line says; when there is room, it goes on.
queue = DISK + "/queue"
os.unlink(DISK + "/others")
os.mkdir(queue)
fill()
push = Push("full", "--queue", queue)
push.until_said("no profile can be put there: No space left on device; each is counted as dropped")
check(not os.listdir(queue), "leaves %s" % os.listdir(queue))
os.unlink(DISK + "/others")
push.until_said("profiles can be put there again")
until(lambda: engine.seen, "sends nothing when there is room")
sent, dropped = push.whole(1, 2)
check(dropped and sent, "%d dropped, %d sent" % (dropped, sent))

# A folder in place of an engine.
os.mkdir(DISK + "/profiles")
fill()
push = Push("folder", to=("folder", DISK + "/profiles"))
push.until_said("no profile can be put there: No space left on device; each is counted as dropped")
check(not os.listdir(DISK + "/profiles"), "leaves %s" % os.listdir(DISK + "/profiles"))
os.unlink(DISK + "/others")
push.until_said("profiles can be put there again")
sent, dropped = push.whole(1, 2)
files = os.listdir(DISK + "/profiles")
check(dropped and sent == len(files), "%d dropped, %d sent: %s" % (dropped, sent, files))
shutil.rmtree(DISK + "/profiles")
print("push: the disk is full")

# A queue that can only be read: what waits is sent once, though it can not be removed; then nothing
# is sent until that is possible.
for n in range(2):
    with open("%s/00%d.push" % (queue, n), "wb") as f:
        f.write(b"/ingest\nx\nwaits %d" % n)
before = len(requests(queue))  # with what the first command has left, perhaps
subprocess.check_call(["mount", "-o", "remount,ro", DISK])
engine.seen = []
push = Push("readonly", "--queue", queue)
push.until_said("no profile can be put there: Read-only file system; each is counted as dropped")
push.until_said("what is sent can not be removed, so nothing else is: Read-only file system")
check(engine.seen == [b"waits 0"], "a queue that can only be read: %s" % engine.seen)
subprocess.check_call(["mount", "-o", "remount,rw", DISK])
push.until_said("profiles can be put there again")
until(lambda: len(engine.seen) >= 3, "sends nothing when it can be written")
check(engine.seen.count(b"waits 0") == 1 and engine.seen.count(b"waits 1") == 1,
      "sends something twice, or never")
sent, dropped = push.whole(1, 3, before)
check(dropped and sent == len(engine.seen), "%d sent, %d came" % (sent, len(engine.seen)))
print("push: the queue can only be read")


def all_of(process):
    """The numbers of a command and of its other process."""
    return [process.pid, *children(process.pid)]


# The queue is removed while two commands use it: the second one makes it, so the first one can not
# use it until the second has ended. Nothing is sent twice.
engine.is_away, engine.seen = True, []
first = Push("first", "--queue", "q.two")
until(lambda: requests("q.two"), "nothing waits")
stopped = all_of(first.process)
for one in stopped:
    os.kill(one, signal.SIGSTOP)
os.rename("q.two", "q.away")
second = Push("second", "--queue", "q.two", "--pid", "1")  # it records nothing
until(lambda: os.path.isdir("q.two") and len(all_of(second.process)) == 2, "does not begin")
for one in stopped:
    os.kill(one, signal.SIGCONT)
first.until_said("no profile can be put there: another push uses it; each is counted as dropped")
engine.is_away = False
_, (_, sent_by_second, _, _, _) = second.end(0)
first.until_said("the folder was removed, and is made again")
first.until_said("profiles can be put there again")
until(lambda: engine.seen, "sends nothing")
text, (_, sent_by_first, _, dropped, _) = first.end(1)
check(dropped, "loses nothing: " + text)
check(len(engine.seen) == len(set(engine.seen)) == sent_by_first + sent_by_second,
      "%d came: %s" % (len(engine.seen), text))
print("push: two commands, and the queue is removed")
