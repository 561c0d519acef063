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


def states():
    rows = csv.DictReader(subprocess.run([jsprof, "ps", "--csv"], stdout=subprocess.PIPE,
                                         text=True).stdout.splitlines())
    return {int(row["process"]): row["state"] for row in rows}


def state(pid):
    return states().get(pid)


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
    """A request during which something happens to processes that it records."""

    def __init__(self, victims, harms, query=""):
        self.path = "/debug/pprof/profile?seconds=%d%s" % (SECONDS, query)
        self.asking = threading.Thread(target=lambda: setattr(self, "answer",
                                                              server.ask(self.path)))
        self.asking.start()
        pids = {victim.pid for victim in victims}
        until(lambda: pids <= {pid for pid, state in states().items() if state == "recording"} or
              not self.asking.is_alive(), "records nothing")
        check(self.asking.is_alive(), "too late")
        for victim, harm in zip(victims, harms):
            harm(victim)

    def end(self):
        self.asking.join()
        self.status, self.body, answer = self.answer
        self.counts = counts(answer)
        self.profile = gzip.decompress(self.body) if self.status == 200 else b""
        return self


# harm(host): each of them leaves the process in some other way.
def kills(host):
    host.kill()
    host.wait()


def executes(host):
    open(host.args[2], "w").close()


def forks(host):
    open(host.args[2], "w").close()


def forks_and_ends(host):
    open(host.args[2], "w").close()
    until(lambda: children(host.pid), "does not fork")
    os.unlink(host.args[2])
    host.wait()


def stops(host):
    os.kill(host.pid, signal.SIGSTOP)


HARMS = [kills, executes, forks, stops, forks_and_ends]
WORDS = {kills: ["run", "1"], executes: ["exec", "go.exec"], forks: ["fork", "go.fork"],
         forks_and_ends: ["fork", "go.ends"], stops: ["run", "1"]}


def start_victims():
    for file in "go.exec", "go.fork", "go.ends":
        remove(file)
    return [start(listen_host, *WORDS[harm]) for harm in HARMS]


def end_victims(victims):
    for victim, harm in zip(victims, HARMS):
        if harm in (stops, forks):
            victim.send_signal(signal.SIGCONT)
            until(lambda: state(victim.pid) == "ready", "%s: is not as before" % harm.__name__)
        kills(victim)


server = Server(jsprof, "serve")
spin = start(lark, "--profile-control", "spin.lark")

# All processes: the other one's samples are there, and each of these is in the profile or counted.
victims = start_victims()
got = Harmed(victims, HARMS).end()
print("all: %d %s" % (got.status, got.counts))
check(got.status == 200, "all: %d %s" % (got.status, got.body))
check(sum(got.counts.values()) == 1 + len(victims), "all: %s" % got.counts)
check(b"spin (spin.lark:1)" in got.profile, "the other one's samples are not there")
named = [victim for victim in victims if b" %d" % victim.pid in got.profile]
check(len(named) + got.counts["idle"] + got.counts["missed"] >= len(victims),
      "%d are named: %s" % (len(named), got.counts))
end_victims(victims)

# Each of them alone: what it had written, or one line.
victims = start_victims()
alone = [Harmed([victim], [harm], "&pid=%d" % victim.pid)
         for victim, harm in zip(victims, HARMS)]
for got, harm in zip(alone, HARMS):
    got.end()
    check(got.status == 200 or (got.status == 503 and got.body.count(b"\n") == 1 and
                                len(got.body) > 20),
          "%s: %d %r" % (harm.__name__, got.status, got.body))
    print("%s: alone: %d %s" % (harm.__name__, got.status,
                                got.body if got.status != 200 else got.counts))
end_victims(victims)
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
