# reach.py - which test runs which lines: each is run once in a build for gcov, with a
# folder of its own for what it counted.
#
# What a process counted is written when it exits: lines that run only in one that is
# killed, or ends by _exit, are not seen here. See run.py for what follows from that.
#
# SPDX-License-Identifier: MIT
import fnmatch
import glob
import hashlib
import json
import os
import shutil
import subprocess
import time

from confine import confined

# The tests of each kind, in the order in which they are collected: programs first. The rest of
# tests/ needs more than is here, reads the sources alone, or tests what is not in src/.
KINDS = {
    "check": ["unit/*_test.c", "sim/*_test.c", "fuzz/*_fuzz.c", "cli/*.sh", "export/*.sh",
              "read/*.sh"],
    "live": ["signal/*_test.c", "fault/*.sh", "unwind/*.sh", "symbols/*.sh", "lark/*.sh"],
}
LONGEST = 200  # seconds
NOT = ("/lib", "/common.sh", "lark/aarch64", "lark/fuzz",
       "export/chrome", "export/totals")


def tests(kinds):
    for kind in kinds:
        for pattern in KINDS[kind]:
            for path in sorted(glob.glob(f"tests/{pattern}")):
                if not any(n in path for n in NOT):
                    yield path


def is_live(test):
    return any(fnmatch.fnmatch(test, f"tests/{p}") for p in KINDS["live"])


def program(test):  # what is run for it, below a build folder
    return test[:-2] if test.endswith(".c") else None


def command(test, tree):
    if test.endswith(".sh"):
        return ["sh", test]
    run = [f"{tree}/build/{program(test)}"]
    if test.endswith("_fuzz.c"):
        name = os.path.basename(test)[:-len("_fuzz.c")]
        run += sorted(glob.glob(f"{tree}/tests/fuzz/corpus/{name}/*"))
    return run


def environment(tree, cc="gcc"):
    keep = {k: os.environ[k] for k in ("PATH", "HOME") if k in os.environ}
    return keep | {"B": f"{tree}/build", "SRCDIR": tree, "CC": cc}


def programs(kinds):
    """What make builds so that all tests of these kinds can run."""
    hosts = glob.glob("tests/fault/*.c") if "live" in kinds else []
    return [f"build/{program(t)}" for t in [*tests(kinds), *hosts] if t.endswith(".c")]


def make(tree, jobs, targets, *settings):
    run = ["make", "-s", f"-j{jobs}", "LUA=no", "MOZJS=no", *settings, *targets]
    done = subprocess.run(run, cwd=tree, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env=dict(os.environ, WERROR=""))
    return done.returncode, done.stdout


def copy_tree(tree):
    """Make the tree new where a file is, so that make builds what changed and no more."""
    for name in ("Makefile", "jsprof.pc.in", "include", "src", "tests", "examples",
                 "bindings", "docs", "completion"):
        if os.path.isdir(name):
            for root, dirs, files in os.walk(name):
                dirs[:] = [d for d in dirs if d != "node_modules"]
                os.makedirs(f"{tree}/{root}", exist_ok=True)
                for f in files:
                    copy_file(f"{root}/{f}", f"{tree}/{root}/{f}")
        else:
            os.makedirs(tree, exist_ok=True)
            copy_file(name, f"{tree}/{name}")


def copy_file(old, new):
    if not os.path.exists(new):
        shutil.copy2(old, new)
    elif open(old, "rb").read() != open(new, "rb").read():
        shutil.copy(old, new)


def copy_build(tree):
    """Take what make has built here, so that a new tree builds nothing again."""
    for name in ("obj", "lib", "bin", "tests", "page_frame.c"):
        if os.path.exists(f"build/{name}") and not os.path.exists(f"{tree}/build/{name}"):
            os.makedirs(f"{tree}/build", exist_ok=True)
            subprocess.run(["cp", "-a", f"build/{name}", f"{tree}/build"], check=True)


def save(path, what):  # whole, whenever the run is ended
    with open(f"{path}.new", "w") as f:
        json.dump(what, f, indent=1)
    os.replace(f"{path}.new", path)


def digest(paths):
    h = hashlib.sha256()
    for path in sorted(paths):
        h.update(path.encode() + b"\0" + open(path, "rb").read())
    return h.hexdigest()


def lines_of(folder, tree):
    """What gcov says of the counts below folder, as {file: [line]}."""
    counts = glob.glob(f"{folder}/**/*.gcda", recursive=True)
    for c in counts:
        notes = c[len(folder):-len("da")] + "no"
        if os.path.exists(notes):
            os.symlink(notes, c[:-len("da")] + "no")
    out = {}
    for i in range(0, len(counts), 50):
        done = subprocess.run(["gcov", "-t", "-j", *counts[i:i + 50]], cwd=folder,
                              text=True, capture_output=True)
        for text in done.stdout.splitlines():
            for f in json.loads(text)["files"]:
                if f["file"].startswith("src/") and f["file"].endswith(".c"):
                    run = {line["line_number"] for line in f["lines"] if line["count"]}
                    out[f["file"]] = sorted(run.union(out.get(f["file"], [])))
    return out


def collect(base, jobs, kinds, say, old):
    """Return {test: {"seconds": s, "lines": {file: [line]}}}, from base where it is kept;
    old: also what was found with other sources."""
    tree = f"{base}/coverage"
    kept = {}
    if os.path.exists(f"{base}/reach.json"):
        kept = json.load(open(f"{base}/reach.json"))
    sources = digest(glob.glob("src/**/*.[ch]", recursive=True) + glob.glob("include/*.h"))
    wanted = {t: sources + digest(glob.glob(f"{os.path.dirname(t)}/*lib*.sh") + [t])
              for t in tests(kinds)}
    if old or all(kept.get(t, {}).get("of") == d for t, d in wanted.items()):
        wanted = {t: d for t, d in wanted.items() if t in kept}
        return {t: kept[t] for t in wanted}
    copy_tree(tree)
    say("building for gcov")
    # Of the optimizer's stages the first alone: it builds in half the time.
    code, out = make(tree, jobs, ["all", *programs(kinds)], "SAN=--coverage -O1")
    if code:
        raise SystemExit(f"the build for gcov failed:\n{out}")
    cc = f"{tree}/build/cc"
    with open(cc, "w") as f:
        f.write('#!/bin/sh\nexec gcc --coverage "$@"\n')
    os.chmod(cc, 0o755)
    for test, of in wanted.items():
        if kept.get(test, {}).get("of") == of:
            continue
        folder = f"{base}/counts"
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        began = time.monotonic()
        code = confined(command(test, tree), tree,
                        environment(tree, cc) | {"GCOV_PREFIX": folder}, LONGEST)
        seconds = time.monotonic() - began
        lines = lines_of(folder, tree)
        kept[test] = {"of": of, "seconds": round(seconds, 2), "status": code, "lines": lines}
        say(f"{test}: {sum(map(len, lines.values()))} lines in {seconds:.1f} s"
            + ("" if code == 0 else f", status {code}"))
        save(f"{base}/reach.json", kept)
    return {t: kept[t] for t in wanted}
