# old_library.py - listens as a library of another version does. Arguments: how, the capture that it
# "records". "old" is the first version: it knows neither calls nor stall_us, tasks and alloc. "new"
# says more than is known today. "other" speaks protocol 2 alone.
#
# SPDX-License-Identifier: MIT
import os
import socket
import sys
import time

how, capture = sys.argv[1:]
folder = os.path.join(os.environ["XDG_RUNTIME_DIR"], "jsprof")
os.makedirs(folder, 0o700, exist_ok=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(os.path.join(folder, "%d.sock" % os.getpid()))
listener.listen(8)
known = {"session", "ms", "hz", "clock", "looker", "compact", "once"}
more = " spice=1" if how == "new" else ""


def answer(line, fd):
    words = line.split()
    if how == "other":
        return "error 71 this process speaks jsprof 2\n"
    if words[2] == "info":
        return ("jsprof 1\npid %d\nsince %d\nversion 9.9\nhost %s\n%s"
                "session 1 state=ready threads=1 clock=cpu hz=1000 vm=%s path=\nend\n"
                % (os.getpid(), time.time(), how + "er", "moon full\n" if more else "", more))
    if words[2] == "calls" and how == "new":
        return "error 95 it counts no calls today\n"
    if words[2] != "record":
        return "error 22 word 3 is not known\n"
    for n, word in enumerate(words[3:], 4):
        if word.split("=")[0] not in known:
            return "error 22 word %d is not known\n" % n
    with open(capture, "rb") as read:
        os.write(fd, read.read())
    return "ok\n" + "done expirations=8 kept=7 lost=1 samples=7 handler_ns=1%s\n" % more


print("listens", flush=True)
while True:
    peer = listener.accept()[0]
    line, fds, _, _ = socket.recv_fds(peer, 512, 4)
    if line:
        peer.sendall(answer(line.decode(), fds[0] if fds else -1).encode())
    for fd in fds:
        os.close(fd)
    peer.close()
