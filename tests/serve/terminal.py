# terminal.py - runs a command on a terminal of its own, types keys and waits for what is drawn.
#
# SPDX-License-Identifier: MIT
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


class Terminal:
    """A command on a pseudo-terminal; `shown` is the last whole picture."""

    END = "\x1b[?2026l"

    def __init__(self, words, rows=30, columns=100, environment=None):
        self.started = time.monotonic()
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.environ.update({"TERM": "xterm-256color", **(environment or {})})
            os.execvp(words[0], words)
        self.all = self.shown = ""
        self.status = None

    def read(self, seconds):
        """Take what is printed. Return False at its end."""
        if not select.select([self.fd], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self.fd, 1 << 16)
        except OSError:
            got = b""
        self.all += got.decode("utf-8", "replace")
        pictures = self.all.split(self.END)
        if len(pictures) > 1:
            self.shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", pictures[-2])
        return bool(got)

    def wait(self, what, seconds=30):
        """Wait until a picture matches the expression. Return the seconds since the start."""
        end = time.monotonic() + seconds
        while not re.search(what, self.shown):
            if time.monotonic() > end or not self.read(0.2):
                sys.exit("no picture matches %r; the last one:\n%s" % (what, self.shown))
        return time.monotonic() - self.started

    def type(self, keys):
        os.write(self.fd, keys.encode())

    def echoes(self):
        return bool(termios.tcgetattr(self.fd)[3] & termios.ECHO)

    def end(self, seconds=30):
        """Wait for the end of the command. Return its exit status."""
        end = time.monotonic() + seconds
        while self.read(0.2):
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                sys.exit("does not end")
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(holds, what):
    if not holds:
        sys.exit(what)
