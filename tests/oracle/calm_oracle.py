#!/usr/bin/python3
"""Random layers, weighed by every kind: how far do weights leave 0 to 1, and what does another example change?

  calm_oracle.py PROBE           200 layers; exit 1 if a calm layer breaks a promise
  calm_oracle.py PROBE --full    2000 layers: the table of docs/mathematics.md

One to four scalar axes, with and without a rotation; 3 to 60 examples: strewn with gaps that differ by up to 20 times,
on uneven grids, or in clusters. "Inside" are blends of examples (convex in the scalar axes, normalised sums of
quaternions). "Outside" are scalar places up to three ranges away. Gaussian weights that are clamped at 0 and divided by
their sum are what engines do; their row is computed here from the gaussian weights.

Promised by calm: exact to 1e-9; never outside of [-0.1, 1.1], inside or outside; no corner (the difference of the slopes
on both sides shrinks with the step); sums of 1.
"""
import sys

import numpy as np

sys.dont_write_bytecode = True

import weigh_cases as make
import weigh_oracle as oracle
from scipy.spatial import Delaunay
from weigh_reference import ROTATION, SCALAR, Axis, Spec

KINDS = {"calm": {"kind": "calm"}, "gaussian": {"kind": "gaussian"}, "shepard": {"kind": "shepard"},
         "cardinal": {}, "triharmonic": {"kernel": "triharmonic"}}
INSIDE, OUTSIDE, STEP = 60, 30, 1e-5


def strew(rng, dimension, count, style):
    if style == "grid":
        side = max(2, round(count ** (1 / dimension)))
        lines = [np.cumsum(np.append(0, np.exp(rng.uniform(0, np.log(20), side - 1)))) for _ in range(dimension)]
        return np.stack(np.meshgrid(*[x / x[-1] for x in lines], indexing="ij"), axis=-1).reshape(-1, dimension)
    if style == "clusters":
        centres = rng.random((max(2, count // 6), dimension))
        return np.clip(centres[rng.integers(0, len(centres), count)] + rng.normal(size=(count, dimension)) * 0.03, 0, 1)
    if dimension == 1:
        places = np.cumsum(np.append(0, np.exp(rng.uniform(0, np.log(20), count - 1))))
        return (places / places[-1])[:, None]
    return rng.random((count, dimension))


class Layer:
    def __init__(self, rng, dimension, turns, style):
        count = int(rng.integers(3, 61) if rng.random() < 0.5 else rng.integers(3, 15))
        self.dimension, self.turns, self.style = dimension, turns, style
        self.axes = [Axis(SCALAR, 0, 1)] * dimension + [Axis(ROTATION)] * turns
        scalars = strew(rng, dimension, count, style)
        q = rng.normal(size=(len(scalars), 4))
        q[:, 3] = np.abs(q[:, 3]) + 1  # mostly within a half turn of each other, as joints are
        rows = np.hstack([scalars, q / np.linalg.norm(q, axis=1, keepdims=True)]) if turns else scalars
        keep = []
        for i, row in enumerate(rows):
            if all(np.linalg.norm(row - rows[j]) > 0.01 for j in keep):
                keep.append(i)
        self.points = rows[keep]

    def inside(self, rng, count):
        n, rows = len(self.points), []
        size = min(n, self.dimension + 1 + 3 * self.turns)
        for _ in range(count):
            near = np.argsort(np.linalg.norm(self.points - self.points[rng.integers(n)], axis=1))[:size]
            chosen = self.points[near if rng.random() < 0.5 else rng.choice(n, size, replace=False)]
            weights = rng.dirichlet(np.full(size, rng.choice([0.5, 1, 2])))
            q = chosen[:, self.dimension :]
            q = q * np.sign(q @ q[0] + 1e-300)[:, None] if self.turns else q
            row = np.hstack([weights @ chosen[:, : self.dimension], weights @ q])
            row[self.dimension :] /= np.linalg.norm(row[self.dimension :]) if self.turns else 1
            rows.append(row)
        return np.array(rows)

    def outside(self, rng, count):
        rows = self.inside(rng, count)
        rows[:, : self.dimension] += rng.normal(size=(count, self.dimension)) * 10 ** rng.uniform(-2, 0.5, (count, 1))
        return rows

    def spec(self, options, points=None):
        return Spec(self.axes, self.points if points is None else points, **options)


def ring(points, k):
    """The distance from example k to the farthest of its Delaunay neighbours."""
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0])
        at = int(np.flatnonzero(order == k)[0])
        neighbours = order[max(at - 1, 0) : at + 2]
    else:
        simplices = Delaunay(points, qhull_options="QJ").simplices
        neighbours = np.unique(simplices[(simplices == k).any(axis=1)])
    return np.linalg.norm(points[neighbours] - points[k], axis=1).max()


def questions(rng, layer):
    inside, outside = layer.inside(rng, INSIDE), layer.outside(rng, OUTSIDE)
    probes = np.vstack([inside[:10], outside[:10], layer.points[:5]])
    along = rng.normal(size=(len(probes), layer.dimension))
    along = np.hstack([along / np.linalg.norm(along, axis=1, keepdims=True), np.zeros((len(probes), 4 * layer.turns))])
    slopes = [probes + s * STEP * along for s in (-1, 0, 1)]
    return {"inside": inside, "outside": outside, "at": layer.points, "before": slopes[0], "here": slopes[1],
            "after": slopes[2]}


def split(rows, parts):
    ends = np.cumsum([len(p) for p in parts.values()])[:-1]
    return dict(zip(parts, np.split(rows, ends)))


class Tally:
    def __init__(self):
        self.lowest = self.highest = self.exact = self.corner = self.sums = 0.0
        self.out_lowest = self.out_highest = 0.0
        self.worst, self.beyond, self.samples, self.added = [], 0, 0, []

    def add(self, a):
        inside, outside = a["inside"], a["outside"]
        self.lowest, self.highest = min(self.lowest, inside.min()), max(self.highest, inside.max())
        self.worst.append(max(-inside.min(), inside.max() - 1))
        self.out_lowest, self.out_highest = min(self.out_lowest, outside.min()), max(self.out_highest, outside.max())
        self.beyond += int(((inside < -0.1) | (inside > 1.1)).any(axis=1).sum())
        self.samples += len(inside)
        self.exact = max(self.exact, np.abs(a["at"] - np.eye(len(a["at"]))).max())
        self.sums = max(self.sums, np.abs(inside.sum(axis=1) - 1).max())
        forward, backward = (a["after"] - a["here"]) / STEP, (a["here"] - a["before"]) / STEP
        self.corner = max(self.corner, np.abs(forward - backward).max() / max(1, np.abs(forward).max()))


def main():
    full = "--full" in sys.argv
    probe, count = sys.argv[1], 2000 if full else 200
    rng = np.random.default_rng(20261116)
    spaces = [(d, t, s) for d in (1, 2, 3, 4) for t in (0, 1) for s in ("strewn", "grid", "clusters")]
    layers = [layer for i in range(2 * count) if len((layer := Layer(rng, *spaces[i % len(spaces)])).points) >= 3][:count]
    asked = [questions(rng, layer) for layer in layers]
    tallies = {name: Tally() for name in [*KINDS, "gaussian, normalised"]}
    for name, options in KINDS.items():
        cases = [make.Case(name, layer.spec(options), list(np.vstack(list(q.values())))) for layer, q in zip(layers, asked)]
        for layer, q, (result, _, rows, _) in zip(layers, asked, oracle.ask(probe, cases)):
            if result != 0:
                sys.exit(f"{name}: a layer of {len(layer.points)} examples was refused")
            tallies[name].add(split(rows, q))
            if name == "gaussian":
                positive = np.maximum(rows, 0)
                positive /= np.maximum(positive.sum(axis=1, keepdims=True), 1e-12)
                tallies["gaussian, normalised"].add(split(positive, q))
    add_one(probe, rng, [layer for layer in layers if not layer.turns and len(layer.points) > layer.dimension + 3][: count // 4],
            tallies)
    report(layers, tallies)
    calm = tallies["calm"]
    promises = {"exact at examples": calm.exact <= 1e-9, "within 0.1 inside": calm.beyond == 0,
                "within 0.1 outside": calm.out_lowest >= -0.1 - 1e-9 and calm.out_highest <= 1.1 + 1e-9,
                "no corner": calm.corner <= 0.05, "sums of 1": calm.sums <= 1e-9,
                "another example changes little far away": np.percentile(calm.added, 95) <= 0.08}
    for promise, kept in promises.items():
        print(f"calm: {promise}: {'ok' if kept else 'FAILED'}")
    sys.exit(0 if all(promises.values()) else 1)


def add_one(probe, rng, layers, tallies):
    """Takes one example out, and measures the others' weights farther from it than its ring of neighbours."""
    jobs = []
    for layer in layers:
        k = int(rng.integers(len(layer.points)))
        rest = np.delete(layer.points, k, axis=0)
        queries = layer.inside(rng, 80)
        queries = queries[np.linalg.norm(queries - layer.points[k], axis=1) > ring(layer.points, k)]
        if layer.dimension > 1:
            queries = queries[Delaunay(rest, qhull_options="QJ").find_simplex(queries) >= 0]
        if len(queries):
            jobs.append((layer, k, rest, list(queries)))
    for name, options in KINDS.items():
        with_k = [make.Case(name, layer.spec(options), q) for layer, _, _, q in jobs]
        without = [make.Case(name, layer.spec(options, rest), q) for layer, _, rest, q in jobs]
        for (_, k, _, _), a, b in zip(jobs, oracle.ask(probe, with_k), oracle.ask(probe, without)):
            if a[0] == 0 and b[0] == 0:
                tallies[name].added.append(np.abs(np.delete(a[2], k, axis=1) - b[2]).max())


def report(layers, tallies):
    print(f"{len(layers)} layers of 3 to {max(len(layer.points) for layer in layers)} examples")
    print(f"{'weights':22s} {'inside':>17s} {'median worst':>13s} {'beyond 0.1':>11s} {'outside':>19s} {'exact':>8s} "
          f"{'corner':>8s} {'another example: 95 %, most':>28s}")
    for name, t in tallies.items():
        added = f"{np.percentile(t.added, 95):.3f}, {max(t.added):.3f}" if t.added else "-"
        print(f"{name:22s} {t.lowest:8.3f} {t.highest:8.3f} {np.median(t.worst):13.3f} {100 * t.beyond / t.samples:9.2f} % "
              f"{t.out_lowest:9.3g} {t.out_highest:9.3g} {t.exact:8.0e} {t.corner:8.0e} {added:>28s}")


if __name__ == "__main__":
    main()
