# ask.py - asks a process for one sample of each attached thread, by the protocol of
# docs/control.md. Argument: the socket. Prints the answer at the end.
#
# SPDX-License-Identifier: MIT
import array
import os
import socket
import sys

s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.connect(sys.argv[1])
fd = os.open("many.cap", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
s.sendmsg([b"jsprof 1 record session=0 ms=2000 hz=1000 clock=wall looker=1 once=1\n"],
          [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [fd]))])
answer = b""
while b"done" not in answer and b"error" not in answer:
    got = s.recv(4096)
    if not got:
        sys.exit("the connection ended: %s" % answer)
    answer += got
print(answer.decode().splitlines()[-1])
