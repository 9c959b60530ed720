#!/usr/bin/python3
"""Compares the weighers, through weigh_probe, with the independent weigh_reference.py.

  weigh_oracle.py PROBE           all groups; one line each, then "N passed, M failed"; exit 1 if any failed
  weigh_oracle.py PROBE --show N  the words that case N sends to the probe
  weigh_oracle.py --table         C rows of reference values for figures 2 and 3 (examples at 0.15, 0.30, 0.75)

Tolerance. A backward stable solve in double loses about condition * 1e-16, times a modest factor for the size of the
system. 1e-13 * condition leaves room for that factor; 1e-9 is the floor and 1e-6 the loosest that passes. It is
relative to the largest weight if that is above 1. Added to it are 64 units of rounding of the summed terms, which only
matters where growing kernels cancel far outside. Cases above a condition of 1e11 would be set aside and counted,
because there 1e-6 is more than a solve in double can promise; there are none now. The seed is fixed.
"""
import subprocess
import sys
from fractions import Fraction

import numpy as np

sys.dont_write_bytecode = True  # leaves nothing in the source tree

import weigh_cases as make
import weigh_reference as ref

CONDITION_LIMIT = 1e11
LISTED = 4  # failures printed per group
RESULTS = {"argument": 1, "data": 4, "singular": 5}


class Tally:
    def __init__(self):
        self.passed = self.failed = 0
        self.groups = {}

    def add(self, group, error, limit, detail):
        """One check: error is the measured value, limit the allowed one; detail is for people."""
        entry = self.entry(group)
        good = bool(error <= limit)
        entry["checks"] += 1
        entry["error"] = max(entry["error"], error if np.isfinite(error) else np.inf)
        entry["part"] = max(entry["part"], error / limit if limit > 0 and np.isfinite(error) else float(not good))
        self.passed, self.failed = self.passed + good, self.failed + (not good)
        if not good:
            entry["failures"].append(detail)

    def aside(self, group):
        self.entry(group)["aside"] += 1

    def entry(self, group):
        return self.groups.setdefault(group, {"checks": 0, "error": 0.0, "part": 0.0, "aside": 0, "failures": []})

    def report(self):
        for name, g in self.groups.items():
            aside = f", {g['aside']} set aside" if g["aside"] else ""
            state = f"FAILED {len(g['failures'])}" if g["failures"] else "ok"
            worst = f"worst {g['error']:.1e} ({g['part']:.1e} of its limit)"
            print(f"{name:44s} {g['checks']:5d} checks, {worst}{aside}: {state}")
            for detail in g["failures"][:LISTED]:
                print("    " + detail)
        print(f"{self.passed} passed, {self.failed} failed")


def ask(probe, cases, query_words=None):
    """The probe's answers: result 0, condition, weights, distances; or the result and message of a refusal."""
    words = [c.words(q) for c, q in zip(cases, query_words or [None] * len(cases))]
    run = subprocess.run([probe], input="".join(words), capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{probe} ended with status {run.returncode}: {run.stderr.strip()}")
    lines = iter(run.stdout.splitlines())
    for case in cases:
        head = next(lines).split(maxsplit=2)
        if head[0] == "error":
            yield int(head[1]), head[2] if len(head) > 2 else "", None, None
            continue
        rows = np.array(" ".join(next(lines) for _ in case.queries).split(), float).reshape(len(case.queries), -1)
        yield 0, float(head[1]), rows, np.array(next(lines).split(), float)


def expect(case, tally, number, quick=False):
    """Reference rows and tolerances per query; None if the problem is too ill-conditioned for any solve in double.

    quick skips the second formulation, for walks of many queries through spaces like those already checked.
    """
    queries = case.query_points()
    solver = ref.solve(case.spec)
    if not solver.condition < CONDITION_LIMIT:
        tally.aside(case.group)
        return None
    rows = solver.weights(queries).copy()
    limit = np.clip(1e-13 * solver.condition, 1e-9, 1e-6) * np.maximum(1, np.abs(rows).max(axis=1))
    limit = limit + 64 * ref.EPSILON * solver.amplitude
    seconds = {} if quick else {"second formulation": solver.transposed(queries)}
    if hasattr(solver, "interpolator") and not quick:
        seconds["scipy's interpolator"] = solver.interpolator(queries)
    if case.known:
        at = list(case.known)
        known = rows.copy()
        known[at] = np.stack([case.known[i] for i in at])
        seconds["known rows"] = known
    for name, other in seconds.items():
        if other is not None:
            part = np.max(np.abs(other - rows).max(axis=1) / limit)
            tally.add("reference against its " + name, part, 1, f"case {number}: {case.group}: {case.describe()}")
    return solver, seconds.get("known rows", rows), limit


def compare(case, number, answer, expected, tally):
    result, head, rows, distances = answer
    where = f"case {number}: {case.describe()}: "
    if result != 0:
        tally.add(case.group, np.inf, 0, where + f"refused ({result}): {head}")
        return
    solver, wanted, limit = expected
    error = np.abs(rows - wanted).max(axis=1)
    error[np.isnan(error)] = np.inf
    worst = int(np.argmax(error / limit))
    column = int(np.argmax(np.nan_to_num(np.abs(rows[worst] - wanted[worst]), nan=np.inf)))
    tally.add(case.group, error[worst], limit[worst], where + f"query {worst} weight {column}: expected "
              f"{wanted[worst, column]:.17g}, got {rows[worst, column]:.17g}, condition {solver.condition:.1e}")
    if case.spec.kind not in ("direct", "gaussian") and case.sums_to_one():
        # 1e-6 as required, or the cost of rounding the weights themselves if they run into the millions.
        off, room = np.abs(rows.sum(axis=1) - 1), np.abs(rows).sum(axis=1) * rows.shape[1] * ref.EPSILON
        worst = int(np.argmax(off / np.maximum(1e-6, room)))
        tally.add("sum of weights", off[worst], max(1e-6, room[worst]), where + f"query {worst}: sum off by "
                  f"{off[worst]:.3g}, largest weight {np.abs(rows[worst]).max():.3g}")
    if case.spec.kind != "direct":
        if case.queries[0] is not None:
            true = ref.distances(case.spec, case.queries[0])
            tally.add("distances", np.max(np.abs(distances - true) / np.maximum(1, true)), 1e-12,
                      where + f"{case.group}: expected {true[:4]}, got {distances[:4]}")
    if case.spec.kind == "gaussian" or (case.spec.kind == "cardinal" and case.spec.kernel in ref.TWO_STAGE):
        true = np.linalg.cond(solver.matrix, 1)
        tally.add("condition numbers", abs(head / true - 1), 1e-12 * true + 1e-6,
                  where + f"expected {true:.6g}, got {head:.6g}")


def check_walk(probe, group, note, specs, at, span, refine, tally):
    """Along a path, in coarse and in fine steps: no jumps, and the coarse walk must match the reference."""
    coarse, fine = np.linspace(*span, 721), np.linspace(*span, 720 * refine + 1)
    walks = [[at(t) for t in steps] for steps in (coarse, fine)]
    words = [make.Case(group, specs[0], walk).query_words() for walk in walks]
    for spec in specs:
        cases = [make.Case(group, spec, walk, note=note) for walk in walks]
        expected = expect(cases[0], tally, note, quick=True)
        if expected is None:
            continue
        answers = list(ask(probe, cases, words))
        compare(cases[0], note, answers[0], expected, tally)
        if not any(a[0] for a in answers):
            check_steps(group, f"{note} {spec.kind} {spec.kernel}: ", answers[0][2], answers[1][2], refine, tally)


def check_steps(group, what, coarse, fine, refine, tally):
    jump = [np.abs(np.diff(rows, axis=0)).max(axis=1) for rows in (coarse, fine)]
    # The steepest place may lie between two coarse steps, which a factor of 10 allows for; a jump would stay as large.
    largest = [j.max() for j in jump]
    tally.add(group + ", largest step", largest[1], 10 * largest[0] / refine + 1e-9,
              what + f"{largest[0]:.3g} in coarse steps, {largest[1]:.3g} in steps {refine} times smaller")
    # A small jump hides among large steps elsewhere, but not next to its own neighbours.
    alone = jump[1][1:-1] - 2 * np.maximum(jump[1][:-2], jump[1][2:])
    tally.add(group + ", steps that stand out", max(alone.max(), 0), 1e-9, what + f"fine step {1 + np.argmax(alone)}")
    if group == "full turns":
        tally.add(group + ", come back", np.abs(coarse[0] - coarse[[360, 720]]).max(), 1e-9,
                  what + "0, 360 and 720 degrees differ")


def main():
    if "--table" in sys.argv:
        return make.print_table()
    rng = np.random.default_rng(20010319)
    cases = list(make.figure_cases()) + list(make.centre_cases())
    for group in (make.cardinal_cases, make.space_cases, make.rotation_cases, make.neighbour_cases, make.bell_cases,
                  make.calm_cases, make.limit_cases,
                  make.reading_cases, make.refused_cases):
        made = list(group(rng))
        # Of large groups, every sixth case: the rest ask the same of other random points.
        cases += made if "--all" in sys.argv or len(made) < 200 else made[::6]
    if "--show" in sys.argv:
        return print(cases[int(sys.argv[sys.argv.index("--show") + 1])].words(), end="")
    if len(sys.argv) != 2 + ("--all" in sys.argv):
        sys.exit("usage: weigh_oracle.py PROBE [--all] [--show N] | --table")
    probe, tally = sys.argv[1], Tally()
    for number, (case, answer) in enumerate(zip(cases, ask(probe, cases))):
        if case.error:
            tally.add(case.group, abs(answer[0] - RESULTS[case.error]), 0,
                      f"case {number}: {case.describe()}: expected {case.error}, got result {answer[0]} {answer[1]}")
            continue
        expected = expect(case, tally, number)
        if expected is not None:
            compare(case, number, answer, expected, tally)
    for group, walks in (("full turns", make.turn_cases(rng)), ("nearest through cells", make.cell_cases(rng))):
        for walk in list(walks)[:: 1 if "--all" in sys.argv else 3]:
            check_walk(probe, group, *walk, tally)
    print("figures 2 and 3:      p        w1        w2        w3")
    for p in [Fraction(i, 100) for i in (0, 15, 20, 30, 50, 75, 100)]:
        print("              " + " ".join(f"{float(v):9.5f}" for v in [p] + make.figure_weights(p)))
    tally.report()
    sys.exit(1 if tally.failed else 0)


if __name__ == "__main__":
    main()
