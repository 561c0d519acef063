# fleet.py - measures jsprof serve, push and top for fleet.sh.
#
# SPDX-License-Identifier: MIT
import atexit
import glob
import gzip
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request

TICKS = os.sysconf("SC_CLK_TCK")


def stat_of(path):
    """The fields of a stat file of the kernel, from the state on."""
    with open(path) as f:
        return f.read().rpartition(")")[2].split()


def family(pid):
    """A process and its children."""
    found = [pid]
    for path in glob.glob("/proc/%d/task/*/children" % pid):
        with open(path) as f:
            found += [int(word) for word in f.read().split()]
    return found


def memory_of(pid):
    """KiB of its own memory, and of the captures that it holds without a name."""
    with open("/proc/%d/smaps_rollup" % pid) as f:
        own = sum(int(n) for n in re.findall(r"^Private_\w+: +(\d+)", f.read(), re.M))
    held = 0
    for fd in glob.glob("/proc/%d/fd/*" % pid):
        if "memfd:jsprof" in os.readlink(fd):
            held += os.stat(fd).st_blocks // 2
    return own, held


class Watch(threading.Thread):
    """The most memory that the server and its children have."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.own, self.held, self.quit = pid, 0, 0, False
        self.start()

    def run(self):
        while not self.quit:
            try:
                each = [memory_of(pid) for pid in family(self.pid)]
                self.own = max(self.own, sum(one[0] for one in each))
                self.held = max(self.held, sum(one[1] for one in each))
            except (OSError, ValueError):
                pass  # a child has ended
            time.sleep(0.3)


def samples_of(path):
    """The sum of the first values of a pprof's samples: how often it was sampled."""
    def fields(data):
        at = 0

        def number():
            nonlocal at
            n = shift = 0
            while True:
                n |= (data[at] & 127) << shift
                at += 1
                if data[at - 1] < 128:
                    return n
                shift += 7
        while at < len(data):
            key = number()
            if key & 7 == 0:
                yield key >> 3, number()
            else:
                size = number()
                at += size
                yield key >> 3, data[at - size:at]
    with open(path, "rb") as f:
        packed = f.read()
    total = 0
    for field, value in fields(gzip.decompress(packed)):
        if field == 2:
            for inner, values in fields(value):
                if inner == 2:
                    first = n = shift = 0
                    for byte in values:
                        n |= (byte & 127) << shift
                        if byte < 128:
                            first = n
                            break
                        shift += 7
                    total += first
    return total, len(packed)


def program_cpu(pid):
    """ns of CPU time of a host's threads, without those of the library."""
    total = 0
    for comm in glob.glob("/proc/%d/task/*/comm" % pid):
        with open(comm) as name, open(comm.replace("comm", "schedstat")) as stat:
            if not name.read().startswith("jsprof"):
                total += int(stat.read().split()[0])
    return total


def all_cpu(pid):
    """Seconds of CPU time of a process, with its threads that have ended."""
    return time.clock_gettime(~pid << 3 | 2)


def comment_of(plain):
    """The text of a profile that names who is not there: "...; no sample: 1 2; no answer: 3"."""
    found = re.search(rb"\d+ of \d+ processes are in the profile[^\0-\x1f]*", plain)
    return found.group() if found else b""


def why(plain, pid):
    for part in comment_of(plain).decode().split("; ")[1:]:
        cause, _, pids = part.partition(": ")
        if str(pid) in pids.split():
            return cause
    return "nobody says why"


def serve(jsprof, host, hosts, windows, seconds, busy):
    running = [subprocess.Popen([host, "part" if i < busy else "light", "1"],
                                stdout=subprocess.PIPE, text=True) for i in range(hosts)]
    for one in running:
        atexit.register(one.kill)  # however this ends
        one.stdout.readline()
    server = subprocess.Popen([jsprof, "serve", "--listen", "127.0.0.1:0", "--no-token"],
                              stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    url = server.stdout.readline().split()[-1]
    watch = Watch(server.pid)
    begin, late, sizes = time.monotonic(), [], []
    for _ in range(windows):
        before = [program_cpu(one.pid) for one in running]
        asked = time.monotonic()
        with urllib.request.urlopen("%sprofile?seconds=%d" % (url, seconds), timeout=600) as got:
            body = got.read()
            counts = got.headers["X-Jsprof-Processes"]
        late.append(time.monotonic() - asked - seconds)
        sizes.append(len(body))
        spent = [program_cpu(one.pid) - n for one, n in zip(running, before)]
    took = time.monotonic() - begin
    time.sleep(0.5) # until the server has seen the end of its child
    plain = gzip.decompress(body)
    present = plain.replace(comment_of(plain), b"")
    seen = [str(one.pid).encode() in present for one in running]
    period = 10000000
    busiest = [i for i in range(hosts) if spent[i] >= 5 * period]
    fields = stat_of("/proc/%d/stat" % server.pid)
    cpu = sum(int(n) for n in fields[11:15]) / TICKS # with children that have ended
    watch.quit = True
    hosts_cpu = sum(all_cpu(one.pid) for one in running)
    own_cpu = hosts_cpu - sum(program_cpu(one.pid) for one in running) / 1e9
    server.terminate()
    print("%d hosts, %d windows of %d s: %d of them in the last profile, %d bytes"
          % (hosts, windows, seconds, sum(seen), sizes[-1]))
    print("in that window %d hosts had 5 periods of CPU time or more: %d are in the profile; "
          "%d others had %.1f in all: %d are in it"
          % (len(busiest), sum(seen[i] for i in busiest), hosts - len(busiest),
             (sum(spent) - sum(spent[i] for i in busiest)) / period,
             sum(seen) - sum(seen[i] for i in busiest)))
    for i in busiest:
        if not seen[i]:
            print("%d is not there, with %.1f periods: %s" % (running[i].pid, spent[i] / period,
                                                              why(plain, running[i].pid)))
    print("processes: %s" % counts)
    print("serve: %.2f s of CPU, %.2f %% of a core; at most %d KiB of its own, %d KiB of captures"
          % (cpu, 100 * cpu / took, watch.own, watch.held))
    print("answers: %s s after the end of the window" % " ".join("%.2f" % n for n in late))
    print("the hosts: %.2f s of CPU, of which the library's threads %.2f s" % (hosts_cpu, own_cpu))


def top(jsprof, pid, seconds):
    from terminal import Terminal
    def spent():
        own = 0
        for comm in glob.glob("/proc/%d/task/*/comm" % pid):
            n = sum(int(v) for v in stat_of(comm.replace("comm", "stat"))[11:13]) / TICKS
            own += n if open(comm).read().startswith("jsprof") else 0
        return own, sum(int(n) for n in stat_of("/proc/%d/stat" % pid)[11:13]) / TICKS
    screen = Terminal([jsprof, "top", str(pid)])
    first = screen.wait("runs")
    before, all_before = spent()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        screen.read(0.2)
    after, all_after = spent()
    own = sum(int(n) for n in stat_of("/proc/%d/stat" % screen.pid)[11:13]) / TICKS
    screen.type("q")
    screen.end()
    cpu = all_after - all_before
    print("top: the first picture after %.2f s; the library's threads have %.2f %% of the host's "
          "%.2f s of CPU; the command itself used %.2f s"
          % (first, 100 * (after - before) / cpu, cpu, own))


if sys.argv[1] == "serve":
    serve(*sys.argv[2:4], *[int(word) for word in sys.argv[4:8]])
elif sys.argv[1] == "size":
    for file in sys.argv[3:]:
        n, size = samples_of(file)
        print("%s: a profile of %d samples, %d bytes" % (sys.argv[2], n, size))
else:
    top(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
