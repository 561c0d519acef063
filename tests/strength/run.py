# run.py - how strong the tests are: break one token at a time at random places of src/,
# and see which test notices. `make mutants N=300 SEED=1 JOBS=2 IN=src/image`.
#
# A mutant is compiled into a copy of the tree, and only tests that run its line are run,
# quick programs first, until one fails. Where none was seen to run the line, those that run
# its file are. A test that can fail by chance (signals, scripts) has to fail twice, and must
# have passed without a mutant; one that does not is skipped. Mutants that do not compile,
# or compile to the same code, do not count.
#
# What was found is kept in the folder OUT, and not tried again while SEED and the file are
# the same; AGAIN=1 tries the survivors again, OLD=1 takes what is known of lines and tests
# though sources have changed. Survivors that tests/strength/alive.txt names
# change nothing that a user could see, for the reason there.
#
# SPDX-License-Identifier: MIT
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
IN = (os.environ.get("IN") or "src").rstrip("/")
AGAIN = os.environ.get("AGAIN")
OUT = os.path.abspath(os.environ.get("OUT") or "build-mutants")
ALIVE = "tests/strength/alive.txt"
SLOWEST = float(os.environ.get("SLOWEST") or 150)  # seconds; slower tests are not run
FIRST = 5  # so many programs are linked before the rest

lock = threading.Lock()
passes = {}  # test: does it pass without a mutant? Of tests that can fail by chance


def say(text):
    with lock:
        print(time.strftime("%H:%M:%S"), text, file=sys.stderr, flush=True)


def reaching(site, tests):
    """The tests that run the site's line, and whether any does: programs first, for which
    less is linked than for a script; of each kind the fastest first."""
    usual = {t: r for t, r in tests.items() if r["status"] in (0, 1)
             and r["seconds"] <= SLOWEST}
    of_file = [t for t, r in usual.items() if site.path in r["lines"]]
    of_line = [t for t in of_file if site.line in usual[t]["lines"][site.path]]
    chosen = sorted(of_line or of_file,
                    key=lambda t: (t.endswith(".sh"), usual[t]["seconds"]))
    return [t for t in chosen if passes.get(t, True)], bool(of_line)


def by_chance(test):
    return not test.startswith(("tests/unit/", "tests/fuzz/"))


# One that failed in the build for gcov took the time of a failure.
def usual_seconds(of_test):
    return of_test["seconds"] if of_test["status"] == 0 else reach.LONGEST / 10


class Tree:
    """A copy of the sources, built, in which one file at a time is broken."""

    def __init__(self, number):
        self.path = f"{OUT}/tree{number}"
        reach.copy_tree(self.path)
        code, out = reach.make(self.path, JOBS, ["all", "test-programs", "fuzz-programs"])
        if code:
            raise SystemExit(f"the build failed:\n{out}")

    def make(self, *targets):
        return reach.make(self.path, 1, targets)[0] == 0

    def code_of(self, o):
        bare = f"{o}.bare"
        subprocess.run(["objcopy", "-g", o, bare], check=True)
        return open(bare, "rb").read()

    def fails(self, test, seconds):
        if test.endswith(".sh"):
            built = self.make("all", *glob_programs("tests/fault/*.c"))
        else:
            built = self.make(f"build/{reach.program(test)}")
        if not built:
            return "not built"
        limit = 20 + 10 * seconds
        code = confine.confined(reach.command(test, self.path), self.path,
                                reach.environment(self.path), limit)
        return {0: None, 77: None}.get(code, "too long" if code == confine.TIMEOUT
                                       else f"status {code}")

    def notices(self, chosen, tests):
        quick = [t for t in chosen if t.endswith(".c")][:FIRST]
        self.make("-k", *(f"build/{reach.program(t)}" for t in quick))
        for test in chosen:
            seconds = usual_seconds(tests[test])
            how = self.fails(test, seconds)
            if not how:
                continue
            if not by_chance(test) or self.fails(test, seconds):
                yield test, how

    def result(self, site, tests):
        while True:
            r = self.broken(site, tests)
            test = r.get("by")
            if not test or not by_chance(test) or passes.get(test):
                return r
            passes[test] = not self.fails(test, usual_seconds(tests[test]))
            if not passes[test]:
                say(f"{test} fails without a mutant, and is left out")

    def broken(self, site, tests):
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
            chosen, runs_line = reaching(site, tests)
            for test, how in self.notices(chosen, tests):
                return {"end": "noticed", "by": test, "how": how}
            return {"end": "alive", "tests": len(chosen), "line is run": runs_line}
        finally:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            with open(o, "wb") as f:
                f.write(kept)


def glob_programs(pattern):
    return [f"build/{reach.program(t)}" for t in glob.glob(pattern)]


def allowed():
    """{site key: reason}; a line is KEY, two bars and the reason."""
    out = {}
    if os.path.exists(ALIVE):
        for line in open(ALIVE, encoding="utf-8"):
            if "||||" in line and not line.startswith("#"):
                key, reason = line.split("||||", 1)
                out[key.strip()] = reason.strip()
    return out


def try_all(chosen, tests, results):
    todo = [s for s in chosen if s.key() not in results]
    say(f"{len(chosen)} mutants, {len(todo)} to be tried")
    left = iter(todo)
    done = [len(chosen) - len(todo)]

    def work(number):
        tree = Tree(number)
        while True:
            with lock:
                site = next(left, None)
            if site is None:
                return
            began = time.monotonic()
            r = tree.result(site, tests)
            r["seconds"] = round(time.monotonic() - began, 1)
            with lock:
                results[site.key()] = r
                done[0] += 1
                json.dump(results, open(f"{OUT}/results.json", "w"), indent=1)
            say(f"{done[0]}/{len(chosen)} {r['end']} {r.get('by', '')} ({r['seconds']} s) "
                f"{site.path}:{site.line}")

    workers = [threading.Thread(target=work, args=(i,)) for i in range(JOBS)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


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
    print(f"\nseed {SEED}, {len(tried)} of {total} places in {IN}: {len(spoilt)} did not "
          f"compile, {len(same)} were the same code, {len(nothing)} change nothing")
    print(f"{len(noticed)} of {counted} noticed "
          f"({100 * len(noticed) / max(counted, 1):.1f}%), {len(alive)} alive")


def main():
    os.makedirs(OUT, exist_ok=True)
    tests = reach.collect(OUT, JOBS, say, os.environ.get("OLD"))
    paths = [p for p in glob.glob("src/**/*.c", recursive=True) if p.startswith(IN)]
    chosen, total = sites.choose(paths, N, SEED)
    results = {}
    if os.path.exists(f"{OUT}/results.json"):
        results = json.load(open(f"{OUT}/results.json"))
    if AGAIN:
        results = {k: r for k, r in results.items() if r["end"] != "alive"}
    try:
        try_all(chosen, tests, results)
    finally:
        report(chosen, results, total)


if __name__ == "__main__":
    main()
