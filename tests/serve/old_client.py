# old_client.py - sends to a library of today what the first command that knew the protocol did.
# Arguments: the socket, the capture to write.
#
# SPDX-License-Identifier: MIT
import array
import os
import socket
import sys


def ask(line, fd=None):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))] if fd else []
    s.sendmsg([line.encode() + b"\n"], rights)
    answer = b""
    while True:
        got = s.recv(4096)
        if not got:
            return answer.decode().splitlines()
        answer += got


info = ask("jsprof 1 info")
assert info[0] == "jsprof 1" and info[-1] == "end", info
keys = {line.split()[0] for line in info}
assert {"pid", "since", "version", "host", "session"} <= keys, info
session = next(line for line in info if line.startswith("session ")).split()
words = dict(word.split("=", 1) for word in session[2:])
assert {"state", "threads", "clock", "hz", "vm", "path"} <= words.keys(), session

fd = os.open(sys.argv[2], os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
said = ask("jsprof 1 record session=%s ms=500 hz=1000 clock=wall looker=1 compact=0 once=0"
           % session[1], fd)
assert said[0] == "ok" and said[-1].startswith("done "), said
done = dict(word.split("=") for word in said[-1].split()[1:])
assert {"expirations", "kept", "lost", "samples", "handler_ns"} <= done.keys(), said
for line, number in ("jsprof 1 record what=1", 22), ("jsprof 1 nothing", 22), ("jsprof 2 info", 71):
    said = ask(line)
    assert len(said) == 1 and said[0].startswith("error %d " % number), (line, said)
