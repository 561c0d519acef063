# serving.py - starts jsprof serve for a test, and asks it.
#
# SPDX-License-Identifier: MIT
import atexit
import http.client
import os
import re
import socket
import subprocess


class Server:
    def __init__(self, *words, **how):
        """`words` is the command, without --listen and --no-token."""
        self.process = subprocess.Popen([*words, "--listen", "127.0.0.1:0", "--no-token"],
                                        stdout=subprocess.PIPE, text=True, **how)
        atexit.register(self.process.kill)
        self.port = int(re.search(r":(\d+)/", self.process.stdout.readline()).group(1))

    def ask(self, path, seconds=120):
        """Return the status, the body, and the answer with its headers."""
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        c.request("GET", path)
        answer = c.getresponse()
        return answer.status, answer.read(), answer

    def connect(self, seconds=60):
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def send(self, request):
        """Send these bytes, and return all that comes."""
        answer = b""
        with self.connect() as c:
            c.sendall(request)
            try:
                while got := c.recv(4096):
                    answer += got
            except ConnectionResetError:  # it had not read all of them
                pass
        return answer

    def anonymous_kib(self):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(re.search(r"RssAnon:\s*(\d+)", f.read()).group(1))

    def end(self):
        """Return the exit status."""
        self.process.terminate()
        return self.process.wait(60)


def children(parent):
    """The numbers of its processes that run."""
    found = []
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and int(open("/proc/%s/stat" % name).read().rsplit(")", 1)[1]
                                      .split()[1]) == parent:
                found.append(int(name))
        except OSError:
            pass
    return found
