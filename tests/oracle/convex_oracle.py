#!/usr/bin/python3
"""Compares convex weighers, through weigh_probe, with blends computed here from the forms themselves, not from their
inner products.

  convex_oracle.py PROBE   one line per group, then "N passed, M failed"; exit 1 if any failed

Four checks. A certificate: the blend x is nearest to b if no key lies farther along b - x than x does. Every face of
few keys, by least squares, and the nearest of all. scipy's nnls, with the sum as one more row of large weight. And for
keys that depend on each other, where many blends are equally near, the corners of scipy's Delaunay triangulation.
"""
import subprocess
import sys
from itertools import combinations

import numpy as np
from scipy.optimize import nnls
from scipy.spatial import Delaunay

sys.dont_write_bytecode = True

checks = {}


def check(group, error, limit, detail):
    entry = checks.setdefault(group, [0, 0.0, []])
    entry[0] += 1
    entry[1] = max(entry[1], error)
    if not error <= limit:
        entry[2].append(f"{detail}: {error:.3g}, at most {limit:.3g}")


def words(keys, origin, queries):
    rows = (keys - origin) @ (keys - origin).T
    points = (queries - origin) @ (keys - origin).T
    axis = "4 0 1 0 0 0 0 1 0 1 0 0 0 kind"
    number = lambda row: " ".join(map(repr, map(float, row)))
    return "\n".join([f"case convex bspline 1 1 0 2 8 0 0.1 1 {len(keys)} 0 {len(queries)}", axis, *map(number, rows),
                      *("at " + number(p) for p in points)]) + "\n"


def ask(probe, cases):
    run = subprocess.run([probe], input="".join(words(*c[1:]) for c in cases), capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{probe} ended with status {run.returncode}: {run.stderr.strip()}")
    lines = iter(run.stdout.splitlines())
    for case in cases:
        head = next(lines)
        if not head.startswith("ok"):
            sys.exit(f"{case[0]}: refused: {head}")
        yield np.array([next(lines).split() for _ in case[3]], float)
        next(lines)


def nearest_of_faces(keys, b):
    """The weights of the nearest point, over all faces whose own nearest point lies inside them."""
    best, found = np.inf, None
    for size in range(1, len(keys) + 1):
        for face in map(list, combinations(range(len(keys)), size)):
            base = keys[face[0]]
            rest, *_ = np.linalg.lstsq((keys[face[1:]] - base).T, b - base, rcond=None)
            w = np.zeros(len(keys))
            w[face] = np.concatenate([[1 - rest.sum()], rest])
            distance = np.sum((w @ keys - b) ** 2)
            if w.min() >= -1e-12 and distance < best - 1e-13:
                best, found = distance, w
    return found


def make_cases(rng):
    for number in range(40):  # independent keys: the weights are unique
        count, size = rng.integers(1, 8), rng.integers(8, 60)
        keys = rng.normal(size=(count, size))
        yield "faces", keys, rng.normal(size=size) * (number % 3), rng.normal(size=(6, size)) * 10.0 ** rng.uniform(-1, 1)
    for number in range(30):
        count, size = rng.integers(8, 25), rng.integers(25, 300)
        keys = rng.normal(size=(count, size)) * 10.0 ** rng.uniform(-3, 3)
        inside = rng.dirichlet(np.full(count, 0.3), size=4) @ keys
        noise = rng.normal(size=(4, size)) * np.abs(keys).mean() * rng.choice([0, 0.1, 1])
        yield "nnls", keys, keys.mean(axis=0) * (number % 2), inside + noise
    for number in range(20):  # more keys than dimensions
        size = 1 + number % 3
        keys = rng.uniform(-1, 1, size=(rng.integers(size + 2, 20), size))
        yield "triangulation", keys, np.zeros(size), rng.dirichlet(np.ones(len(keys)), size=8) @ keys
    for number in range(10):  # large, some keys twice
        keys = rng.normal(size=(rng.integers(60, 200), rng.integers(5, 40)))
        keys[7] = keys[3]
        yield "large", keys, np.zeros(keys.shape[1]), rng.normal(size=(4, keys.shape[1])) * 10.0 ** rng.uniform(-1, 1)


def delaunay_weights(keys, b):
    if keys.shape[1] == 1:
        order = np.argsort(keys[:, 0])
        at = np.clip(np.searchsorted(keys[order, 0], b[0]), 1, len(keys) - 1)
        corners = order[at - 1:at + 1]
    else:
        mesh = Delaunay(keys)
        corners = mesh.simplices[mesh.find_simplex(b)]
    w = np.zeros(len(keys))
    w[corners] = np.linalg.solve(np.vstack([keys[corners].T, np.ones(len(corners))]), np.append(b, 1))
    return w


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: convex_oracle.py PROBE")
    cases = list(make_cases(np.random.default_rng(20080707)))
    plain = 0
    for number, (case, answers) in enumerate(zip(cases, ask(sys.argv[1], cases))):
        group, keys, _, queries = case
        for b, w in zip(queries, answers):
            where = f"{group}, case {number}, {keys.shape[0]} keys"
            blend, size = w @ keys, np.abs(keys).max()
            away = b - blend
            check("sums and signs", abs(w.sum() - 1) + max(0, -w.min()), 1e-15 * len(w), where)
            # Distance of a key beyond the blend along the remainder: the ridge allows 1e-9 of the squares.
            scale = np.sum((keys - keys.mean(axis=0)) ** 2, axis=1).max() + np.sum((keys - b) ** 2, axis=1).max()
            check("certificate", np.max((keys - blend) @ away) / max(scale, 1e-300), 1e-8, where)
            if group == "faces":
                check("every face", np.abs(w - nearest_of_faces(keys, b)).max(), 1e-6, where)
            if group == "nnls":
                large = 1e4 * size
                other, _ = nnls(np.vstack([keys.T, np.full(len(keys), large)]), np.append(b, large))
                check("nnls", np.abs(w - other / other.sum()).max(), 1e-5, where)
            if group == "triangulation":
                # Of all blends that meet b, the triangulation's has the least sum of squared distances. Ours minimises
                # that sum plus |w|^2 times a quarter of the least squared distance between two keys.
                other, squares = delaunay_weights(keys, b), np.sum((keys - b) ** 2, axis=1)
                even = min(np.sum((p - q) ** 2) for p, q in combinations(keys, 2)) / 4
                check("triangulation", (w - other) @ squares + even * (w @ w - other @ other), 1e-6, where)
                check("meets what is inside", np.abs(away).max(), 1e-7, where)
                plain += np.abs(w - other).max() < 1e-4
    check("mostly as triangulated", 160 - plain, 16, "weights that differ")
    failed = 0
    for group, (count, worst, failures) in checks.items():
        print(f"{group:20s} {count:5d} checks, worst {worst:.1e}: {f'FAILED {len(failures)}' if failures else 'ok'}")
        for failure in failures[:4]:
            print("    " + failure)
        failed += len(failures)
    print(f"{sum(c[0] for c in checks.values()) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
