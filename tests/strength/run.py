# run.py - how strong the tests are: break one token at a time at random places of src/,
# and see which test notices. `make mutants N=300 SEED=1 JOBS=2 IN=src/image`.
#
# A mutant is compiled into a copy of the tree, and only tests that run its line are run, until one
# fails: first those that have noticed another mutant of the file, then quick ones, scripts last.
# Where none was seen to run the line, programs that run its file or have its name are: a line that
# ran in a child that was killed is in no count, and scripts have few of these. KINDS=check, the
# default, takes the tests of `make check`; KINDS='check live' runs for what survives these the
# five quickest live tests that run the line. A live test can fail by chance: it has to fail twice,
# and must have passed without a mutant; one that does not is skipped. Mutants that do not compile,
# or compile to the same code, do not count.
#
# What was found is kept in the folder OUT, and not tried again: a run that was ended goes
# on. AGAIN=1 tries the survivors again, OLD=1 takes what is known of lines and tests though
# sources have changed. Survivors that tests/strength/alive.txt names change nothing that a user
# could see, for the reason there. IN takes several folders. MINUTES ends a run in time.
#
# SPDX-License-Identifier: MIT
import collections
import glob
import json
import os
import subprocess
import sys
import threading
import time

import confine
import reach
import sites

N = int(os.environ.get("N") or 300)
SEED = os.environ.get("SEED") or "1"
JOBS = int(os.environ.get("JOBS") or 2)
IN = tuple(f.rstrip("/") for f in (os.environ.get("IN") or "src").split())
KINDS = (os.environ.get("KINDS") or "check").split()
MINUTES = float(os.environ.get("MINUTES") or 1e9)
AGAIN = os.environ.get("AGAIN")
OUT = os.path.abspath(os.environ.get("OUT") or "build-mutants")
ALIVE = "tests/strength/alive.txt"
SLOWEST = float(os.environ.get("SLOWEST") or 20)  # seconds; slower tests are not run
BUDGET = float(os.environ.get("BUDGET") or 30)  # seconds that the tests of one mutant take
MOST_LIVE = 5
BATCHES = (4, 12, 30, 1000)  # so many programs are linked at once

lock = threading.Lock()
passes = {}  # test: does it pass without a mutant? Of tests that can fail by chance


def say(text):
    with lock:
        print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def reaching(site, tests, results):
    """The tests that run the site's line, and whether any does."""
    own = f"/{os.path.basename(site.path)[:-2]}_test.c"
    usual = {t: r for t, r in tests.items() if r["status"] in (0, 1)
             and r["seconds"] <= SLOWEST and (site.path in r["lines"] or t.endswith(own))}
    of_line = [t for t, r in usual.items() if site.line in r["lines"].get(site.path, ())]
    good = collections.Counter(r.get("by") for k, r in list(results.items())
                               if k.startswith(f"{site.path}:"))

    def order(test):
        return -good[test], test.endswith(".sh"), usual[test]["seconds"]
    of_file = [t for t in usual if t.endswith(".c")]
    chosen = [t for t in sorted(of_line or of_file, key=order) if passes.get(t, True)]
    live = [t for t in chosen if reach.is_live(t) and t in of_line]
    return [t for t in chosen if not reach.is_live(t)], live[:MOST_LIVE], bool(of_line)


def within_budget(chosen, tests):
    left = BUDGET
    for test in chosen:
        left -= usual_seconds(tests[test])
        if left >= 0:
            yield test


# A live test may fail by chance, and others because something is not here.
def doubtful(test, how, tests):
    return reach.is_live(test) or tests[test]["status"] != 0 or how == "too long"


# One that failed in the build for gcov took the time of a failure.
def usual_seconds(of_test):
    return of_test["seconds"] if of_test["status"] == 0 else reach.LONGEST / 10


class Tree:
    """A copy of the sources, built, in which one file at a time is broken."""

    def __init__(self, number):
        self.path = f"{OUT}/tree{number}"
        reach.copy_tree(self.path)
        reach.copy_build(self.path)
        # What a mutant needs is linked when its turn comes.
        code, out = reach.make(self.path, JOBS, ["tool", "test-objects"])
        if code:
            raise SystemExit(f"the build failed:\n{out}")

    def make(self, *targets):
        return reach.make(self.path, 1, targets)[0] == 0

    def code_of(self, o):
        bare = f"{o}.bare"
        subprocess.run(["objcopy", "-g", o, bare], check=True)
        return open(bare, "rb").read()

    def link(self, tests):
        programs = [f"build/{reach.program(t)}" for t in tests if t.endswith(".c")]
        if any(t.endswith(".sh") for t in tests):
            programs.append("all")
        if any(t.startswith("tests/fault/") for t in tests):
            programs += [f"build/{reach.program(t)}" for t in glob.glob("tests/fault/*.c")]
        return self.make("-k", *programs)

    def fails(self, test, seconds):
        limit = 5 + 5 * seconds
        code = confine.confined(reach.command(test, self.path), self.path,
                                reach.environment(self.path), limit)
        return {0: None, 77: None}.get(code, "too long" if code == confine.TIMEOUT
                                       else f"status {code}")

    def noticed(self, chosen, tests):
        """The first of these tests that fails, and how; None, None where none does."""
        todo = list(within_budget(chosen, tests))
        sizes = iter(BATCHES)
        while todo:
            n = next(sizes)
            if not self.link(todo[:n]):
                say(f"not all of these could be built: {todo[:n]}")
            for test in todo[:n]:
                seconds = usual_seconds(tests[test])
                how = self.fails(test, seconds)
                if how and reach.is_live(test):
                    how = self.fails(test, seconds)
                if how:
                    return test, how
            todo = todo[n:]
        return None, None

    def result(self, site, tests, results):
        while True:
            r = self.broken(site, tests, results)
            test = r.get("by")
            if not test or passes.get(test) or not doubtful(test, r["how"], tests):
                return r
            self.link([test])
            passes[test] = not self.fails(test, usual_seconds(tests[test]))
            if not passes[test]:
                say(f"{test} fails without a mutant, and is skipped")

    def broken(self, site, tests, results):
        path = f"{self.path}/{site.path}"
        text = open(path, encoding="utf-8").read()
        target = "build/obj/" + site.path[:-2] + ".o"
        o = f"{self.path}/{target}"
        whole, times = self.code_of(o), os.stat(path)
        kept = open(o, "rb").read()
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write(site.spoil(text))
            if not self.make(target):
                return {"end": "does not compile"}
            if self.code_of(o) == whole:
                return {"end": "same code"}
            chosen, live, runs_line = reaching(site, tests, results)
            if results.get(site.key(), {}).get("end") == "alive" and not AGAIN:
                chosen = []  # they have passed, in a run without live tests
            test, how = self.noticed(chosen, tests)
            if not test:
                test, how = self.noticed(live, tests)
            if test:
                return {"end": "noticed", "by": test, "how": how}
            return {"end": "alive", "tests": len(chosen) + len(live), "line is run": runs_line,
                    "kinds": KINDS}
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            with open(o, "wb") as f:
                f.write(kept)


def allowed():
    """{site key: reason}; a line is KEY, two bars and the reason."""
    out = {}
    if os.path.exists(ALIVE):
        for line in open(ALIVE, encoding="utf-8"):
            if "||||" in line and not line.startswith("#"):
                key, reason = line.split("||||", 1)
                out[key.strip()] = reason.strip()
    return out


def is_done(r):
    return r and (r["end"] != "alive" or not AGAIN and set(KINDS) <= set(r["kinds"]))


def try_all(chosen, tests, results):
    todo = [s for s in chosen if not is_done(results.get(s.key()))]
    until = time.monotonic() + 60 * MINUTES
    say(f"{len(chosen)} mutants, {len(todo)} to be tried")
    left = iter(todo)
    done = [len(chosen) - len(todo)]

    def work(number):
        tree = Tree(number)
        while True:
            with lock:
                site = next(left, None) if time.monotonic() < until else None
            if site is None:
                return
            began = time.monotonic()
            r = tree.result(site, tests, results)
            r["seconds"] = round(time.monotonic() - began, 1)
            with lock:
                results[site.key()] = r
                done[0] += 1
                reach.save(f"{OUT}/results.json", results)
            say(f"{done[0]}/{len(chosen)} {r['end']} {r.get('by', '')} ({r['seconds']} s) "
                f"{site.path}:{site.line}")

    workers = [threading.Thread(target=work, args=(i,)) for i in range(JOBS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


def table(counted):
    """Print for each room how many mutants were noticed, of how many that change something."""
    rooms = collections.defaultdict(list)
    for s, r in counted:
        rooms["/".join(s.path.split("/")[:2])].append(r["end"] == "noticed")
    for room, ends in sorted(rooms.items()):
        print(f"{room:<15} {sum(ends):4} of {len(ends):4} {100 * sum(ends) / len(ends):5.1f} %")


def report(chosen, results, total):
    names = allowed()
    tried = [(s, results[s.key()]) for s in chosen if s.key() in results]
    noticed = [(s, r) for s, r in tried if r["end"] == "noticed"]
    alive = [(s, r) for s, r in tried if r["end"] == "alive"]
    same = [s for s, r in tried if r["end"] == "same code"]
    spoilt = [s for s, r in tried if r["end"] == "does not compile"]
    nothing = [(s, r) for s, r in alive if s.key() in names]
    alive = [(s, r) for s, r in alive if s.key() not in names]
    by = {}
    for _, r in noticed:
        by[r["by"]] = by.get(r["by"], 0) + 1
    for test in sorted(by, key=by.get, reverse=True):
        print(f"{by[test]:5} noticed by {test}")
    for s, _ in nothing:
        print(f"\n{s.path}:{s.line} changes nothing: {names[s.key()]}")
    for s, r in alive:
        why = f"{r['tests']} tests pass" if r["line is run"] else "no test was seen to run it"
        print(f"\n{s.path}:{s.line} is alive: {why}\n-{s.old_line}\n+{s.new_line}")
    counted = len(noticed) + len(alive)
    print()
    table(noticed + alive)
    print(f"\nseed {SEED}, {len(tried)} of {total} places in {' '.join(IN)}: {len(spoilt)} did not "
          f"compile, {len(same)} were the same code, {len(nothing)} change nothing")
    print(f"{len(noticed)} of {counted} noticed "
          f"({100 * len(noticed) / max(counted, 1):.1f}%), {len(alive)} alive")


def main():
    os.makedirs(OUT, exist_ok=True)
    os.nice(10)
    tests = reach.collect(OUT, JOBS, KINDS, say, os.environ.get("OLD"))
    paths = [p for p in glob.glob("src/**/*.c", recursive=True) if p.startswith(IN)]
    chosen, total = sites.choose(paths, N, SEED)
    results = {}
    if os.path.exists(f"{OUT}/results.json"):
        results = json.load(open(f"{OUT}/results.json"))
    try:
        try_all(chosen, tests, results)
    finally:
        report(chosen, results, total)


if __name__ == "__main__":
    main()
