# confine.py - run a broken program so that it breaks nothing else: in a process namespace
# of its own, with a folder of its own, and limits on what it may take.
#
# A mutant may call kill(-1, SIGKILL), allocate without end or fill the disk.
#
# SPDX-License-Identifier: MIT
import os
import resource
import shutil
import subprocess
import tempfile

GIB = 1 << 30
TIMEOUT = -1000


def limits():
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (12 * GIB, 12 * GIB))
    resource.setrlimit(resource.RLIMIT_FSIZE, (GIB, GIB))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def confined(command, folder, environment, seconds):
    """Return the exit status of a command, or TIMEOUT. Nothing that it started is left."""
    scratch = tempfile.mkdtemp()
    user = [] if os.getuid() == 0 else ["--user", "--map-root-user"]
    # The command must not be process 1, which signals do not end.
    run = ["unshare", *user, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
           "sh", "-c", '"$@"; exit $?', "sh", *command]
    try:
        p = subprocess.Popen(run, cwd=folder, env=environment | {"TMPDIR": scratch},
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL, preexec_fn=limits)
        try:
            return p.wait(seconds)
        except subprocess.TimeoutExpired:
            return TIMEOUT
        finally:
            p.kill()
            p.wait()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
