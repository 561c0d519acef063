# harm.py - jsprof serve while a process that it records dies, executes another program, forks or
# hangs, and while somebody sets the clock. Arguments: the command, the host, the Lark host, a
# library that sets the clock.
#
# SPDX-License-Identifier: MIT
import atexit
import csv
import gzip
import os
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.environ["SRCDIR"] + "/tests/export")
from otlp import Message
from serving import Server, children
from terminal import check

jsprof, listen_host, lark, clocks = sys.argv[1:]
SECONDS = 3


def until(what, complaint, seconds=90):
    limit = time.monotonic() + seconds
    while not what():
        check(time.monotonic() < limit, complaint)
        time.sleep(0.05)


def state(pid):
    rows = csv.DictReader(subprocess.run([jsprof, "ps", "--csv"], stdout=subprocess.PIPE,
                                         text=True).stdout.splitlines())
    return "".join(row["state"] for row in rows if row["process"] == str(pid))


def start(*words, **how):
    host = subprocess.Popen(words, stdout=subprocess.DEVNULL, **how)
    atexit.register(host.kill)
    until(lambda: state(host.pid) == "ready", "%s does not listen" % (words,))
    return host


def remove(path):
    if os.path.exists(path):
        os.unlink(path)


def counts(answer):
    words = answer.getheader("X-Jsprof-Processes", "").split()
    return {key: int(n) for key, n in (word.split("=") for word in words)}


class Harmed:
    """A request during which something happens to one of the processes that it records."""

    def __init__(self, victim, harm, query=""):
        path = "/debug/pprof/profile?seconds=%d%s" % (SECONDS, query)
        asking = threading.Thread(target=lambda: setattr(self, "answer", server.ask(path)))
        asking.start()
        until(lambda: state(victim) == "recording" or not asking.is_alive(), "records nothing")
        time.sleep(0.3)
        self.was_in_time = asking.is_alive()
        harm()
        asking.join()
        self.status, self.body, answer = self.answer
        self.counts = counts(answer)
        self.profile = gzip.decompress(self.body) if self.status == 200 else b""


# harm(host): each of them leaves the process in some other way.
def kills(host):
    host.kill()
    host.wait()


def executes(host):
    open("go", "w").close()


def forks(host):
    open("go", "w").close()


def forks_and_ends(host):
    open("go", "w").close()
    until(lambda: children(host.pid), "does not fork")
    os.unlink("go")
    host.wait()


def stops(host):
    os.kill(host.pid, signal.SIGSTOP)


server = Server(jsprof, "serve")
spin = start(lark, "--profile-control", "spin.lark")
for name, words, harm in (
        ("dies", ["run", "1"], kills), ("executes", ["exec", "go"], executes),
        ("forks", ["fork", "go"], forks), ("forks and ends", ["fork", "go"], forks_and_ends),
        ("is stopped", ["run", "1"], stops)):
    # All processes: the others' samples are there, and this one is in the profile or is named.
    remove("go")
    victim = start(listen_host, *words)
    got = Harmed(victim.pid, lambda: harm(victim))
    named = b" %d" % victim.pid in got.profile
    check(got.status != 200 or named or got.counts["present"] == 2 or got.counts["idle"] or
          got.counts["missed"], "%s: %s" % (name, got.counts))
    if harm in (stops, forks):
        victim.send_signal(signal.SIGCONT)
        until(lambda: state(victim.pid) == "ready", "%s: is not as before" % name)
    kills(victim)
    check(got.status == 200, "%s: %d %s" % (name, got.status, got.body))
    check(got.was_in_time, "%s: too late" % name)
    check(b"spin (spin.lark:1)" in got.profile, "%s: the other one's samples are not there" % name)

    # This one alone: what it had written, or one line.
    remove("go")
    victim = start(listen_host, *words)
    got = Harmed(victim.pid, lambda: harm(victim), "&pid=%d" % victim.pid)
    check(got.status == 200 or (got.status == 503 and got.body.count(b"\n") == 1 and
                                len(got.body) > 20), "%s: %d %r" % (name, got.status, got.body))
    print("%s: alone: %d %s" % (name, got.status, got.body if got.status != 200 else got.counts))
    victim.send_signal(signal.SIGCONT)
    kills(victim)
check(server.ask("/debug/pprof/")[0] == 200, "is gone")
check(server.end() == 0, "fails when it is ended")


# Somebody sets the clock by hours, at each look at it: the window and all waits are as before, and
# the profile has the time of day, as the process saw it.
def seconds_of(profile):
    (nanoseconds,) = Message(profile)[9]
    return nanoseconds / 1e9


stepped = {**os.environ, "LD_PRELOAD": clocks}
server = Server(jsprof, "serve", env=stepped)
steps = start(lark, "--profile-control", "spin.lark", env=stepped)
begin = time.monotonic()
path = "/debug/pprof/profile?seconds=%d&pid=%d" % (SECONDS, steps.pid)
status, body, answer = server.ask(path)
took = time.monotonic() - begin
check(status == 200, "the clock is set: %d %s" % (status, body))
check(0.95 * SECONDS <= took < 60, "the clock is set: it takes %.1f s" % took)
profile = gzip.decompress(body)
check(b"spin (spin.lark:1)" in profile, "the clock is set: no samples")
(duration,) = Message(profile)[10]
hours, rest = divmod(seconds_of(profile) - time.time() + 1800, 3600)
print("the clock is set: %.2f s, the profile is %d hours away, of %.2f s" %
      (took, hours, duration / 1e9))
check(hours and abs(rest - 1800) < 120, "the profile is of %s" % time.ctime(seconds_of(profile)))
check(0 < duration < 60e9, "the profile is of %d ns" % duration)
check(server.end() == 0, "fails when it is ended")
