#!/usr/bin/python3
"""Falloffs that "auto" chooses, against a second computation of their cost and a search of our own.

  falloff_oracle.py EXEMPLAR           layers of all kinds; one line each, then "N passed, M failed"; exit 1 if any failed
  falloff_oracle.py EXEMPLAR --table   the table of docs/mathematics.md, over 300 layers

Layers are an elbow with sculpts at 30, 60, 80, 100 and 140 degrees, even rows, grids, and examples strewn over 1 to 4
axes with gaps that differ by up to 20 times; some with a rotation. Their forms are smooth functions of the place, such
functions with a part of each sculpt's own, or have nothing in common. The tool builds each one. We read the falloffs
from the rig, and compute from the formulas of docs/mathematics.md:

  - leave-one-out errors, by removing each point and solving again, and not by Rippa's formula;
  - weights at places of the range and halfway between neighbours, and the dip there;
  - the cost, which no factor on the tool's grid may beat, and no factor on a finer one by more than NEAR.

Then weights are taken at other places. They must stay within 0.25 of 0 to 1 wherever a factor exists that does.
"""
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.interpolate import LinearNDInterpolator

sys.dont_write_bytecode = True

from obj_files import write_obj
from weigh_reference import ROTATION, SCALAR, Axis, chord_distance

PLACES, GRID, FINE, NEAR = 512, 21, 161, 0.01
FREE, DEAR, CONDITION = 0.1, 0.25, 1e9
FORMS = ("smooth", "partly own", "own")


def even_places(axes, count):
    """Roberts' sequence over the ranges, and Shoemake's rotations of three of its numbers."""
    dimension = sum(a.width for a in axes)
    root = np.max(np.real(np.roots([1] + [0] * (dimension - 1) + [-1, -1])))
    numbers = np.mod(0.5 + np.outer(np.arange(1, count + 1), root ** -np.arange(1.0, dimension + 1)), 1)
    columns, at = [], 0
    for axis in axes:
        if axis.kind == SCALAR:
            columns.append(axis.low + (axis.high - axis.low) * numbers[:, at : at + 1])
        else:
            u, a, b = numbers[:, at], 2 * np.pi * numbers[:, at + 1], 2 * np.pi * numbers[:, at + 2]
            columns.append(np.stack([np.sqrt(1 - u) * np.sin(a), np.sqrt(1 - u) * np.cos(a), np.sqrt(u) * np.sin(b),
                                     np.sqrt(u) * np.cos(b)], axis=1))
        at += axis.width
    return np.hstack(columns)


class Layer:
    """Examples, then rest, at `points`; their offsets, rest's being 0, in `values` [points][numbers]."""

    def __init__(self, axes, points, values):
        self.axes, self.points, self.values = axes, points, values
        self.between = chord_distance(axes, points, points)
        apart = self.between + np.diag(np.full(len(points), np.inf))
        self.nearest, other = apart.min(axis=1), points[apart.argmin(axis=1)]
        self.usual = self.nearest.mean()
        at, halves = 0, []
        for axis in axes:
            a, b = points[:, at : at + axis.width], other[:, at : at + axis.width]
            sign = 1 if axis.kind == SCALAR else np.where(np.sum(a * b, axis=1, keepdims=True) < 0, -1, 1)
            half = a + sign * b
            halves.append(half / 2 if axis.kind == SCALAR else half / np.linalg.norm(half, axis=1, keepdims=True))
            at += axis.width
        self.halves = chord_distance(axes, np.hstack(halves), points)
        self.range = np.vstack([self.halves, chord_distance(axes, even_places(axes, PLACES), points)])

    def weights(self, falloffs, distances):
        """Weights of all points, with rest among them."""
        return np.linalg.solve(self.kernels(falloffs, self.between).T, self.kernels(falloffs, distances).T).T

    @staticmethod
    def kernels(falloffs, distances):
        return np.exp(-((distances / falloffs) ** 2) / 2)

    def error(self, falloffs):
        """Each point from the others, which keep their falloffs."""
        errors = []
        for i in range(len(self.points)):
            rest = np.arange(len(self.points)) != i
            matrix = self.kernels(falloffs[rest], self.between[np.ix_(rest, rest)])
            row = self.kernels(falloffs[rest], self.between[i, rest])
            errors.append(row @ np.linalg.solve(matrix, self.values[rest]) - self.values[i])
        return np.sqrt(np.sum(np.square(errors)) / np.sum(self.values**2))

    def extent(self, falloffs, distances):
        weights = self.weights(falloffs, distances)[:, :-1]
        return min(0, weights.min()), max(1, weights.max())

    def measure(self, falloffs):
        """Cost, leave-one-out error, dip, lowest and highest weight."""
        if np.linalg.cond(self.kernels(falloffs, self.between), 1) > CONDITION:
            return np.inf, np.inf, 0, 0, 1
        error, (low, high) = self.error(falloffs), self.extent(falloffs, self.range)
        dip = np.mean((1 - self.weights(falloffs, self.halves).sum(axis=1)) ** 2)
        t = max(0, max(-low, high - 1) - FREE) / (DEAR - FREE)
        return min(error**2, 1) + min(dip, 1) + (1 if t <= 1 else 3) * t * t, error, dip**0.5, low, high

    def search(self, count, families=2):
        bases = [np.full(len(self.points), self.usual), self.nearest][:families]
        tried = [base * factor for base in bases for factor in 2 ** np.linspace(-2, 3, count)]
        return [(self.measure(falloffs), falloffs) for falloffs in tried]


# ---- layers ----

def forms(rng, places, kind):
    """Values at places, less those at the last one."""
    count = len(places)
    if kind == "own":
        values = np.zeros((count, 3 * count))
        values[np.arange(count), 3 * np.arange(count)] = 0.3
        values[-1] = 0
        return values
    smooth = np.sin(2 * places @ rng.normal(size=(places.shape[1], 24)) + rng.normal(size=24))
    values = smooth - smooth[-1] + (0.5 * rng.normal(size=smooth.shape) if kind == "partly own" else 0)
    values[-1] = 0
    return 0.3 * values


def strewn(rng, dimension):
    count = int(rng.integers(4, 25 if dimension < 4 else 14))
    if dimension > 1:
        return rng.random((count, dimension))
    places = np.cumsum(np.append(0, np.exp(rng.uniform(0, np.log(20), count - 1))))
    return (places / places[-1])[::-1, None].copy()


def layers(rng, random_count):
    line = [Axis(SCALAR, 0, 140)]
    for kind in FORMS:
        angles = np.array([30.0, 60, 80, 100, 140, 0])[:, None]
        yield f"elbow, {kind}", Layer(line, angles, forms(rng, angles / 140, kind))
        row = np.arange(7.0, -1, -1)[:, None] * 20
        yield f"even row, {kind}", Layer(line, row, forms(rng, row / 140, kind))
        for side, dimension in ((3, 2), (4, 2), (3, 3)):
            lines = [np.linspace(1, 0, side)] * dimension
            grid = np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, dimension)
            yield f"grid {side}^{dimension}, {kind}", Layer([Axis()] * dimension, grid, forms(rng, grid, kind))
    for i in range(random_count):
        dimension, kind = 1 + i % 4, FORMS[i // 4 % 3]
        places = strewn(rng, dimension)
        values, axes, points = forms(rng, places, kind), [Axis()] * dimension, places
        if i % 5 == 4:
            q = rng.normal(size=(len(places), 4))
            q[:, 3] = np.abs(q[:, 3]) + 1
            q *= rng.choice([-1, 1], (len(q), 1))  # the same rotations
            points = np.hstack([places, q / np.linalg.norm(q, axis=1, keepdims=True)])
            points[-1, dimension:] = [0, 0, 0, 1]
            axes = axes + [Axis(ROTATION)]
        yield f"strewn {i}, {len(axes)} axes, {len(points)} points, {kind}", Layer(axes, points, values)


# ---- the tool ----

def write_project(folder, layer):
    values = layer.values.reshape(len(layer.values), -1, 3)
    count = values.shape[1] + 2
    rest = np.stack([np.arange(count), np.zeros(count), np.zeros(count)], axis=1)
    rest[-2:, 1] = 1
    lines = ["v "] * count + [f"f {i + 1} {i + 2} {count}" for i in range(count - 2)]
    write_obj(folder / "rest.obj", lines, rest)
    names = "abcde"[: len(layer.axes)]
    space, examples = [], []
    for name, axis, value in zip(names, layer.axes, split(layer, layer.points[-1])):
        space.append({"name": name, "min": axis.low, "max": axis.high, "rest": value} if axis.kind == SCALAR
                     else {"name": name, "rotation": "full"})
    for k, offsets in enumerate(values[:-1]):
        form = rest.copy()
        form[:-2] += offsets
        write_obj(folder / f"e{k}.obj", lines, form)
        examples.append({"name": f"e{k}", "mesh": f"e{k}.obj", "at": dict(zip(names, split(layer, layer.points[k])))})
    (folder / "p.json").write_text(json.dumps({"exemplar": 1, "mesh": "rest.obj", "layers": [{
        "name": "l", "space": space, "weigh": {"kind": "gaussian", "falloff": "auto"}, "shape": "offsets",
        "examples": examples}]}))


def split(layer, point):
    at = 0
    for axis in layer.axes:
        part = [float(x) for x in point[at : at + axis.width]]
        yield part[0] if axis.kind == SCALAR else part
        at += axis.width


def run(tool, *words):
    done = subprocess.run([tool, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: {done.stderr}")
    return done


def choose(tool, layer):
    """The falloffs of all points in the rig, and the build's note."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_project(folder, layer)
        note = run(tool, "build", folder / "p.json").stderr
        built = json.loads(run(tool, "info", folder / "p.glb", "--json").stdout)["layers"][0]
    rows = [point["falloff"] for point in built["examples"] + built["pseudo"]]
    if any(len(set(row)) != 1 for row in rows):
        sys.exit(f"falloffs differ between axes: {rows}")
    return np.array([row[0] for row in rows]), note


NOTE = re.compile(r"weights are from (-?[\d.]+) to ([\d.]+) inside the range, leave-one-out error ([\d.e+-]+) %")


def judge(layer, falloffs, note, seed):
    """Sentences on what is wrong."""
    cost, error, _, low, high = layer.measure(falloffs)
    coarse = min(m[0] for m, _ in layer.search(GRID))
    fine = min(m[0] for m, _ in layer.search(FINE))
    if cost > coarse + 1e-6:
        yield f"cost {cost:.6f}, on the grid {coarse:.6f}"
    if cost > fine + NEAR:
        yield f"cost {cost:.6f}, on a fine grid {fine:.6f}"
    said = NOTE.search(note)
    if not said:
        yield f"the note was '{note.strip()}'"
    elif max(abs(float(said[1]) - low), abs(float(said[2]) - high)) > 0.0051 or \
            abs(float(said[3]) / 100 - error) > 0.006 * error:
        yield f"expected {low:.3f}, {high:.3f} and {100 * error:.3f} % in '{note.strip()}'"
    rng = np.random.default_rng(seed)
    places = [rng.uniform(a.low, a.high, (3000, 1)) if a.kind == SCALAR else rng.normal(size=(3000, 4))
              for a in layer.axes]
    places = [p / np.linalg.norm(p, axis=1, keepdims=True) if p.shape[1] == 4 else p for p in places]
    low, high = layer.extent(falloffs, chord_distance(layer.axes, np.hstack(places), layer.points))
    if cost < 3 and max(-low, high - 1) > DEAR:
        yield f"weights from {low:.2f} to {high:.2f} elsewhere in the range"


def test(tool):
    passed = failed = 0
    for seed, (name, layer) in enumerate(layers(np.random.default_rng(23), 36)):
        falloffs, note = choose(tool, layer)
        wrong = list(judge(layer, falloffs, note, seed))
        passed, failed = passed + (not wrong), failed + bool(wrong)
        cost, error, dip, low, high = layer.measure(falloffs)
        print(f"{name:44s} cost {cost:.3f}, error {error:.3f}, dip {dip:.3f}, {low:.2f} to {high:.2f}: "
              f"{'; '.join(wrong) or 'ok'}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


# ---- the table ----

def off_straight(layer, falloffs, places):
    """Difference of the form from straight lines between neighbours, relative to those; NaN with rotations."""
    if any(a.kind != SCALAR for a in layer.axes):
        return np.nan
    if len(layer.axes) == 1:
        order = np.argsort(layer.points[:, 0])
        straight = np.stack([np.interp(places[:, 0], layer.points[order, 0], v[order]) for v in layer.values.T], axis=1)
    elif len(layer.points) < len(layer.axes) + 2:
        return np.nan
    else:
        straight = LinearNDInterpolator(layer.points, layer.values)(places)
    inside = ~np.isnan(straight[:, 0])
    off = layer.weights(falloffs, chord_distance(layer.axes, places, layer.points)) @ layer.values - straight
    return np.sqrt(np.sum(off[inside] ** 2) / np.sum(straight[inside] ** 2))


def table(tool):
    rows = {}
    for name, layer in layers(np.random.default_rng(24), 285):
        group = re.match(r"\w+", name)[0]
        places = even_places(layer.axes, 2048)
        distances = chord_distance(layer.axes, places, layer.points)
        alone = min(layer.search(GRID, 1), key=lambda found: found[0][1])[1]  # by leave-one-out
        found = {"before": alone, "now": choose(tool, layer)[0]}
        for when, falloffs in found.items():
            low, high = layer.extent(falloffs, distances)
            _, error, dip, *_ = layer.measure(falloffs)
            row = (low, high, error, dip, off_straight(layer, falloffs, places))
            rows.setdefault((group, name.rsplit(", ", 1)[1], when), []).append(row)
    print("| layers | forms | | lowest, highest weight | beyond ±0.25 | leave-one-out error | dip | off straight lines |")
    print("|---|---|---|---|---|---|---|---|")
    for (group, kind, when), found in rows.items():
        found = np.array(found)
        beyond = np.mean(np.maximum(-found[:, 0], found[:, 1] - 1) > DEAR)
        print(f"| {group} | {kind} | {when} | {found[:, 0].min():.2f}, {found[:, 1].max():.2f} | {100 * beyond:.0f} % | "
              f"{np.median(found[:, 2]):.2f} | {np.median(found[:, 3]):.2f} | {np.nanmedian(found[:, 4]):.2f} |")
    return False


if __name__ == "__main__":
    sys.exit(table(sys.argv[1]) if "--table" in sys.argv else test(sys.argv[1]))
