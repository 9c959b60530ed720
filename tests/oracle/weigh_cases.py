"""The cases of weigh_oracle.py: spaces, examples and queries from a generator with a fixed seed, and figures 2 and 3 of
"Shape by Example" computed by hand. Nothing here computes a weight except figure_weights.
"""
from fractions import Fraction

import numpy as np

import weigh_reference as ref
from weigh_reference import ROTATION, SCALAR, SWING, TWIST, Axis, Spec

# Conditionally positive of order two: with a constant alone, two examples at distance 1 already make r^2 log r vanish
# everywhere. So these kernels are refused without their plane, rather than solved by luck.
NEEDS_PLANE = ("thin_plate", "triharmonic")


def number(values):
    return " ".join(map(repr, map(float, values)))


class Case:
    """A spec and its queries (None is rest); known: rows that must come out whatever the reference says."""

    def __init__(self, group, spec, queries, known=None, error=None, note=""):
        self.group, self.spec, self.queries, self.note = group, spec, queries, note
        self.known, self.error = known or {}, error

    def query_words(self):
        return "".join("rest\n" if q is None else "at " + number(q) + "\n" for q in self.queries)

    def words(self, query_words=None):
        """The input of the probe; query_words: the queries as text, if another case with the same queries made it."""
        s = self.spec
        lines = [f"case {s.kind} {s.kernel} {int(s.linear)} {s.radius!r} {s.ridge!r} {s.power!r} {s.neighbours} "
                 f"{int(s.paper)} {s.overshoot!r} {len(s.axes)} {len(s.points)} {len(s.pseudos)} {len(self.queries)}"]
        for a in s.axes:
            lines.append(f"{a.kind} {number([a.low, a.high, a.rest, *a.rotation, *a.about, a.scale])} {int(a.clamp)} "
                         f"{a.limit}")
        if s.kind != "direct":
            lines += [number(p) for p in s.points]
        lines += [f"{number(at)} {source} {number(given)}" for at, source, given in s.pseudos]
        if s.kind == "gaussian":
            for name, table in (("falloffs", s.falloffs), ("metrics", s.metrics)):
                lines.append("none" if table is None else name + " " + number(np.ravel(table)))
            lines.append(str(len(s.sets)))
            lines += [" ".join(str(int(k)) for k in members) for members in s.sets]
        return "\n".join(lines) + "\n" + (query_words or self.query_words())

    def query_points(self):
        rest = [v for a in self.spec.axes for v in ([a.rest] if a.kind == SCALAR else a.rotation)]
        return ref.read_points(self.spec.axes, [rest if q is None else q for q in self.queries], True)

    def sums_to_one(self):
        return all(a.limit != "fade" for a in self.spec.axes) and all(
            s == "from" or abs(np.sum(row) - 1) < 1e-9 for _, s, row in self.spec.pseudos)

    def describe(self):
        s = self.spec
        return (f"{s.kind} {s.kernel if s.kind == 'cardinal' else ''} axes {[a.kind for a in s.axes]} examples "
                f"{len(s.points)} pseudos {len(s.pseudos)} linear {s.linear} radius {s.radius} ridge {s.ridge} k "
                f"{s.neighbours} paper {s.paper} {self.note}")


# Places and spaces ---------------------------------------------------------------------------------------------------

def random_rotation(rng, count):
    q = rng.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def scalar_axes(rng, count, scaled=False):
    axes = []
    for _ in range(count):
        low = rng.uniform(-100, 100)
        high = low + 10 ** rng.uniform(-2, 2.5)
        scale = 10 ** rng.uniform(-0.5, 0.5) / (high - low) if scaled else 0.0
        axes.append(Axis(SCALAR, low, high, rng.uniform(low, high), scale=scale))
    return axes


def place(rng, axes, count, spacing=0.35):
    """Random points that keep a distance, like a designer's. spacing is relative to that of an even layout."""
    dimension = sum(1 if a.kind == SCALAR else 3 for a in axes)
    gap = spacing * count ** (-1 / dimension)
    placed = np.zeros((0, sum(a.width for a in axes)))
    for _ in range(100 * count):
        row = np.concatenate([[rng.uniform(a.low, a.high)] if a.kind == SCALAR else random_rotation(rng, 1)[0]
                              for a in axes])
        if len(placed) == 0 or gap == 0 or ref.chord_distance(axes, row[None], placed).min() >= gap:
            placed = np.vstack([placed, row])
        if len(placed) == count:
            return placed
    raise ValueError("the spacing is too wide for so many points")


def pseudo_examples(rng, axes, examples, count, sources):
    """Pseudo-examples placed apart from the examples and each other."""
    taken, pseudos = np.array(examples), []
    for i in range(count):
        options = place(rng, axes, 30, 0)
        at = options[np.argmax(ref.chord_distance(axes, options, taken).min(axis=1))]
        taken = np.vstack([taken, at])
        if sources[i % len(sources)] == "from":
            pseudos.append((at, "from", place(rng, axes, 1)[0]))
        else:
            weights = rng.uniform(-0.2, 1, len(examples))
            pseudos.append((at, "weights", weights / weights.sum()))
    return pseudos


def usual_queries(rng, spec, inside=6, at=5, far=3):
    """Queries inside, at examples (with known rows), far outside, and at rest."""
    queries, known = list(place(rng, spec.axes, inside, 0)), {}
    for i in rng.permutation(len(spec.points))[:at]:
        if spec.ridge == 0:
            known[len(queries)] = np.eye(len(spec.points))[i]
        queries.append(spec.points[i])
    for at_point, source, row in spec.pseudos[:at]:
        if spec.ridge == 0 and source == "weights":
            known[len(queries)] = row
        queries.append(at_point)
    if any(a.kind == SCALAR for a in spec.axes):
        for _ in range(far):
            row = place(rng, spec.axes, 1)[0]
            for axis, part in ref.parts(spec.axes, row[None]):
                if axis.kind == SCALAR:
                    part += rng.choice([-100, 100]) * (axis.high - axis.low)
            queries.append(row)
    return queries + [None], known


def usual_case(rng, group, spec, note="", **counts):
    queries, known = usual_queries(rng, spec, **counts)
    return Case(group, spec, queries, known, note=note)


# Groups --------------------------------------------------------------------------------------------------------------

VARIANTS = {
    "plain": {}, "constant only": {"linear": False}, "radius 0.7": {"radius": 0.7}, "radius 1.3": {"radius": 1.3},
    "ridge": {"ridge": 0.05}, "pseudo from": {"sources": ["from"]}, "pseudo weights": {"sources": ["weights"]},
    "pseudo both": {"sources": ["from", "weights"], "linear": False},
}


def cardinal_cases(rng):
    for kernel in ref.KERNELS:
        for dimension in (1, 2, 4, 10):
            for count in (3, 8, 14, 50, 200):
                for note, options in VARIANTS.items():
                    options = dict(options)
                    sources = options.pop("sources", None)
                    axes = scalar_axes(rng, dimension)
                    points = place(rng, axes, count)
                    pseudos = pseudo_examples(rng, axes, points, max(1, count // 5), sources) if sources else []
                    spec = Spec(axes, points, pseudos, kernel=kernel, **options)
                    case = usual_case(rng, f"cardinal {kernel}, {dimension}-D", spec, note)
                    if kernel in NEEDS_PLANE and not spec.linear:
                        case.group, case.error = "refused", "argument"
                    yield case


def space_cases(rng):
    for kernel in ref.KERNELS:
        for count in (5, 14, 50):
            axes = scalar_axes(rng, 3, scaled=True)
            points = place(rng, axes, count)
            pseudos = pseudo_examples(rng, axes, points, 2, ["from", "weights"])
            yield usual_case(rng, "explicit scales", Spec(axes, points, pseudos, kernel=kernel))

            constant = points.copy()
            constant[:, 1] = axes[1].low + 0.25 * (axes[1].high - axes[1].low)
            yield usual_case(rng, "an axis that never varies", Spec(axes, constant, kernel=kernel))
            pseudos = pseudo_examples(rng, axes, constant, 2, ["from"])
            spec = Spec(axes, constant, pseudos, kernel=kernel)
            yield usual_case(rng, "an axis that only pseudo-examples vary", spec)

            flat = scalar_axes(rng, 2)
            along = (np.arange(count) + rng.uniform(-0.3, 0.3, count)) / count
            line = [[a.low + (a.high - a.low) * (b + s * along[i]) for a, s, b in zip(flat, (0.9, -0.4), (0, 0.8))]
                    for i in range(count)]
            yield usual_case(rng, "all on a line in 2-D", Spec(flat, line, kernel=kernel))
        one = Spec(scalar_axes(rng, 2), [[0.5, 0.25]], kernel=kernel)
        yield usual_case(rng, "one example", one)
        pair = scalar_axes(rng, 1)
        yield usual_case(rng, "two examples", Spec(pair, place(rng, pair, 2), kernel=kernel))


def rotation_axis(rng, kind, scale=0.0):
    return Axis(kind, rotation=random_rotation(rng, 1)[0], about=rng.normal(size=3) * 3, scale=scale)


def rotation_spaces(rng):
    yield "whole", [rotation_axis(rng, ROTATION)]
    yield "swing", [rotation_axis(rng, SWING)]
    yield "twist", [rotation_axis(rng, TWIST)]
    yield "whole + scalar", [rotation_axis(rng, ROTATION)] + scalar_axes(rng, 1)
    swing = rotation_axis(rng, SWING)
    twist = Axis(TWIST, about=swing.about, rotation=swing.rotation)
    yield "scalar + swing + twist + scalar", scalar_axes(rng, 1) + [swing, twist] + scalar_axes(rng, 1)
    yield "two wholes, explicit scales", [rotation_axis(rng, ROTATION, 0.8), rotation_axis(rng, ROTATION, 0.3)]


def negated(axes, point):
    row = np.array(point)
    for axis, part in ref.parts(axes, row[None]):
        if axis.kind != SCALAR:
            part *= -1
    return row


def rotation_cases(rng):
    kinds = [{"kernel": k, "linear": lin} for k in ref.KERNELS for lin in (True, False) if lin or k not in NEEDS_PLANE]
    kinds += [{"kind": "shepard"}, {"kind": "shepard", "power": 3.5}, {"kind": "nearest"},
              {"kind": "nearest", "neighbours": 3}, {"kind": "nearest", "neighbours": 3, "paper": True}]
    for options in kinds:
        for count in (4, 12, 40):
            for note, axes in rotation_spaces(rng):
                points = place(rng, axes, min(count, 10) if note == "twist" else count)
                pseudos = pseudo_examples(rng, axes, points, 2, ["from", "weights"]) if count == 12 else []
                spec = Spec(axes, points, pseudos, **options)
                queries, known = usual_queries(rng, spec, at=4)
                # The same rotations with the other sign, and by a quaternion that is not of unit length.
                for i in range(len(queries) - 1):
                    known.update({len(queries): known[i]} if i in known else {})
                    queries.append(negated(axes, queries[i]) if i % 2 else
                                   np.concatenate([p[0] * (1 if a.kind == SCALAR else 1e3) for a, p in
                                                   ref.parts(axes, np.array(queries[i])[None])]))
                yield Case("rotations: " + note, spec, queries, known, note="q, -q, 1000 q")


def neighbour_cases(rng):
    for dimension in (1, 2, 4, 10):
        for count in (1, 2, 3, 8, 9, 30, 200):
            for with_pseudos in (False, True):
                axes = scalar_axes(rng, dimension, scaled=dimension == 4)
                points = place(rng, axes, count)
                pseudos = pseudo_examples(rng, axes, points, 2, ["from", "weights"]) if with_pseudos else []
                for power in (2.0, 1.0, 4.5):
                    yield usual_case(rng, "shepard", Spec(axes, points, pseudos, kind="shepard", power=power))
                for k in (1, 3, 8, 64):
                    for paper in (False, True):
                        spec = Spec(axes, points, pseudos, kind="nearest", neighbours=k, paper=paper)
                        yield usual_case(rng, "nearest, paper form" if paper else "nearest", spec)
    ring = [[np.cos(t), np.sin(t)] for t in (0, np.pi / 2, np.pi, -np.pi / 2)]
    square = [[1, 1], [-1, 1], [-1, -1], [1, -1], [3, 0]]
    axes = [Axis(SCALAR, -1, 1), Axis(SCALAR, -1, 1)]
    for k, paper in ((4, False), (4, True), (3, True), (3, False)):
        spec = Spec(axes, square, kind="nearest", neighbours=k, paper=paper)
        yield Case("equidistant examples", spec, [[0, 0]], {0: np.array([1, 1, 1, 1, 0]) / 4})
    for kind in ("shepard", "nearest"):
        spec = Spec(axes, [[0, 0]] + ring[1:], kind=kind, neighbours=3)
        row = np.array([1.0, 0, 0, 0])
        yield Case("next to an example", spec, [[1e-160, 0], [1e-200, 1e-200], [0, 1e-310], [5e-324, 0]],
                   {i: row for i in range(4)})


def bell_options(rng, axes, count, examples, reach, note):
    """Falloffs, metrics and sets for a number of points, some of them at their defaults."""
    options, scalars = {}, sum(a.kind == SCALAR for a in axes)
    if note != "default":
        each = rng.uniform(0.6, 1.2, (count, 1 if note == "one each" else len(axes)))
        options["falloffs"] = np.broadcast_to(each, (count, len(axes))) * reach * (rng.uniform(size=(count, 1)) > 0.2)
    if note in ("metrics", "sets and metrics") and scalars > 0:
        metrics = np.zeros((count, scalars, scalars))
        for k in np.flatnonzero(rng.uniform(size=count) > 0.3):
            turn = np.linalg.qr(rng.normal(size=(scalars, scalars)))[0]
            metrics[k] = turn @ np.diag((rng.uniform(0.5, 1.1, scalars) * reach) ** -2) @ turn.T
            metrics[k] = (metrics[k] + metrics[k].T) / 2
        options["metrics"] = metrics
    if note.startswith("sets"):
        sets = rng.uniform(size=(5, examples)) < 0.5
        sets[0], sets[1] = True, np.arange(examples) == rng.integers(examples)
        options["sets"] = sets[sets.any(axis=1)]
    if note == "ridge":
        options["ridge"] = 0.05
    return options


def bell_case(rng, group, axes, count, note):
    points = place(rng, axes, count, 0.6)
    sources = ["from", "weights"] if note in ("pseudo", "ridge") or note.startswith("sets") else []
    pseudos = pseudo_examples(rng, axes, points, max(1, count // 5), sources) if sources else []
    if note.startswith("sets"):
        pseudos.append((place(rng, axes, 1)[0], "weights", np.zeros(count)))
    whole = np.vstack([points] + [p[0] for p in pseudos])
    reach = ref.Gaussian.default(Spec(axes, whole), whole)
    options = bell_options(rng, axes, len(whole), count, reach, note)
    case = usual_case(rng, group, Spec(axes, points, pseudos, kind="gaussian", **options), note)
    if note.startswith("sets"):
        case.known = {}  # rows of sets follow them
    return case


def bell_cases(rng):
    notes = ("default", "one each", "an axis each", "metrics", "pseudo", "ridge", "sets", "sets and metrics")
    for note in notes:
        for dimension in (1, 2, 4):
            for count in (1, 3, 8, 14, 40):
                yield bell_case(rng, f"gaussian: {note}", scalar_axes(rng, dimension, dimension == 4), count, note)
        for count in (4, 12, 35):
            for space, axes in rotation_spaces(rng):
                if space != "twist" or count < 10:
                    yield bell_case(rng, f"gaussian: {note}", axes, count, note)


def with_limits(rng, axes):
    for axis in axes:
        axis.limit = str(rng.choice(["kind", "hold", "fade", "extrapolate"]))
    return axes


def beyond(rng, spec, count=6):
    """Queries a little and far outside of the points."""
    rows = []
    for i in range(count):
        row = place(rng, spec.axes, 1)[0]
        for axis, part in ref.parts(spec.axes, row[None]):
            if axis.kind == SCALAR:
                part[:] = rng.choice([axis.low, axis.high]) + rng.normal() * 10 ** rng.uniform(-3, 1) * (axis.high - axis.low)
        rows.append(row)
    return rows


def calm_cases(rng):
    """Even and crowded points, with every kind of pseudo-example, bounds from 0 to 0.4, and limits."""
    for overshoot in (0.0, 0.02, 0.1, 0.4):
        for note in ("plain", "constant only", "crowded", "pseudo", "rest", "limits"):
            for dimension in (1, 2, 4):
                for count in (1, 2, 3, 14, 60):
                    axes = scalar_axes(rng, dimension, scaled=dimension == 4)
                    yield calm_case(rng, axes, count, note, overshoot)
            for count in (4, 12, 35):
                for space, axes in rotation_spaces(rng):
                    if space != "twist" or count < 10:
                        yield calm_case(rng, axes, count, note, overshoot)


def calm_case(rng, axes, count, note, overshoot):
    points = place(rng, axes, count, 0.02 if note == "crowded" else 0.35)
    pseudos = []
    if note == "pseudo":
        pseudos = pseudo_examples(rng, axes, points, max(1, count // 5), ["from", "weights"])
        if overshoot < 0.05:  # a bound near 0 cannot be raised without leaving it
            pseudos = [(at, s, row if s == "from" else np.abs(row) / np.abs(row).sum()) for at, s, row in pseudos]
    if note in ("rest", "limits"):
        pseudos = [(place(rng, axes, 1)[0], "weights", np.zeros(count))]
    spec = Spec(with_limits(rng, axes) if note == "limits" else axes, points, pseudos, kind="calm", overshoot=overshoot,
                linear=note != "constant only")
    case = usual_case(rng, f"calm: {note}", spec, f"overshoot {overshoot}")
    case.queries = case.queries[:-1] + beyond(rng, spec) + [None]
    return case


def limit_cases(rng):
    """Limits of the other kinds."""
    for options in ({"kernel": "bspline"}, {"kernel": "triharmonic"}, {"kind": "shepard"}, {"kind": "nearest"},
                    {"kind": "gaussian"}):
        for space, axes in [("scalars", scalar_axes(rng, 2)), ("one", scalar_axes(rng, 1))] + list(rotation_spaces(rng)):
            spec = Spec(with_limits(rng, axes), place(rng, axes, 8), **options)
            case = usual_case(rng, f"limits: {spec.kind}", spec, space)
            case.queries = case.queries[:-1] + beyond(rng, spec) + [None]
            case.known = {}  # a weight may fade at a rotation's own example
            yield case


def reading_cases(rng):
    nan, inf = np.nan, np.inf
    for clamp in (False, True):
        axes = [Axis(SCALAR, -20, 140, 30, clamp=clamp), rotation_axis(rng, ROTATION),
                Axis(SCALAR, 0, 1, 0.25, clamp=clamp)]
        q = list(random_rotation(rng, 1)[0])
        queries = [[nan, *q, 0.5], [60, *q, nan], [inf, *q, -inf], [60, q[0], nan, q[2], q[3], 0.5],
                   [60, inf, 0, 0, 0, 0.5], [60, 0, 0, 0, 0, 0.5], [nan] * 6, [1e9, *q, 0.5], [60, *q, -1e9],
                   [500, *q, 3], [-500, *q, -3]]
        for options in ({"kernel": "bspline"}, {"kernel": "multiquadric"}, {"kind": "shepard"}, {"kind": "nearest"},
                        {"kind": "gaussian"}):
            points = place(rng, axes, 12)
            pseudos = [(place(rng, axes, 1)[0], "from", [200, *q, 2])]
            yield Case("NaN, zero quaternion, clamp", Spec(axes, points, pseudos, **options), queries + [None])
    twist = [Axis(TWIST, about=(0, 2, 0), rotation=(0, 0, 0, 0)), rotation_axis(rng, SWING)]
    points = place(rng, twist, 8)
    q = list(random_rotation(rng, 1)[0])
    queries = [[1, 0, 0, 0, *q], [0, 0, -1, 0, *q], [0, 0, 0, 0, *q], [nan, 0, 0, 1, *q], [*q, 0, 0, 0, 0], None]
    for options in ({"kernel": "gaussian"}, {"kernel": "biharmonic"}, {"kind": "nearest", "neighbours": 4},
                    {"kind": "gaussian"}):
        yield Case("twist that vanishes", Spec(twist, points, **options), queries)
    dials = [Axis(SCALAR, 0, 1, 0.1), Axis(SCALAR, -2, 2, 0.5, clamp=True), Axis(SCALAR, 0, 100, 0, scale=7.0)]
    queries = [[0.3, 0.4, 50], [1.5, 9, -3], [nan, -inf, nan], [1e12, 1e12, 1e12], None]
    known = {0: [0.3, 0.4, 50], 1: [1.5, 2, -3], 2: [0.1, 0.5, 0], 3: [1e6 + 0.1, 2, 1e8], 4: [0.1, 0.5, 0]}
    yield Case("direct", Spec(dials, np.zeros((3, 3)), kind="direct"), queries,
               {i: np.array(row, float) for i, row in known.items()})


def refused_cases(rng):
    axes = [Axis(SCALAR, 0, 1), Axis(ROTATION)]
    q, p = random_rotation(rng, 2)
    twice = [[0.2, *q], [0.7, *p], [0.2, *-q]]
    for options in [{"kernel": k} for k in ref.KERNELS] + [{"kind": "gaussian"}]:
        yield Case("refused", Spec(axes, twice, **options), [None], error="singular", note="q and -q at one place")
        pseudos = [([0.7, *p], "from", [0.5, *q])]
        spec = Spec(axes, twice[:2], pseudos, **options)
        yield Case("refused", spec, [None], error="singular", note="pseudo on example")
    yield Case("refused", Spec(axes, [[np.nan, *q]]), [None], error="data", note="NaN place")
    for options in ({"radius": 0.0}, {"radius": -1.0}, {"ridge": -1.0}, {"kind": "shepard", "power": 0.0},
                    {"kind": "nearest", "neighbours": 0}, {"kind": "nearest", "neighbours": 65},
                    {"kind": "gaussian", "ridge": -1.0}, {"kind": "gaussian", "falloffs": -np.ones((2, 2))}):
        yield Case("refused", Spec(axes, twice[:2], **options), [None], error="argument", note=str(options))


# Figures 2 and 3 -----------------------------------------------------------------------------------------------------

FIGURE_POINTS = [Fraction(15, 100), Fraction(30, 100), Fraction(75, 100)]


def figure_weights(p):
    """Examples at 0.15, 0.30, 0.75 worked out by hand, in fractions.

    The mean is 2/5, the deviations are -1/4, -1/10, 7/20 and the sum of their squares 39/200, so the line through 1 at
    example i and 0 at the others is 1/3 + (p - 2/5) dev_i / (39/200):
        A_1 = (33 - 50 p)/39,  A_2 = (21 - 20 p)/39,  A_3 = (70 p - 15)/39.
    The radii are 3/20, 3/20, 9/20, so Q = [2/3 1/6 4/81; 1/6 2/3 1/6; 0 0 2/3]: r_3 = 3/2 q_3, and the rest is a
    symmetric pair with inverse [8/5 -2/5; -2/5 8/5].
    """
    lines = [lambda x: (33 - 50 * x) / 39, lambda x: (21 - 20 * x) / 39, lambda x: (70 * x - 15) / 39]
    radii = [Fraction(3, 20), Fraction(3, 20), Fraction(9, 20)]

    def spline(r):
        return Fraction(2, 3) - r**2 + r**3 / 2 if r < 1 else (2 - r) ** 3 / 6 if r < 2 else Fraction(0)

    basis = [spline(abs(p - x) / rho) for x, rho in zip(FIGURE_POINTS, radii)]
    weights = []
    for i, line in enumerate(lines):
        q = [int(i == j) - line(x) for j, x in enumerate(FIGURE_POINTS)]
        r3 = Fraction(3, 2) * q[2]
        b1, b2 = q[0] - Fraction(4, 81) * r3, q[1] - Fraction(1, 6) * r3
        r1, r2 = Fraction(8, 5) * b1 - Fraction(2, 5) * b2, Fraction(8, 5) * b2 - Fraction(2, 5) * b1
        weights.append(line(p) + r1 * basis[0] + r2 * basis[1] + r3 * basis[2])
    return weights


def figure_cases():
    spec = Spec([Axis(SCALAR, 0, 1)], [[float(p)] for p in FIGURE_POINTS])
    grid = [Fraction(i, 1000) for i in range(-2000, 3001)]
    rows = {i: np.array([float(w) for w in figure_weights(p)]) for i, p in enumerate(grid)}
    yield Case("figures 2 and 3", spec, [[float(p)] for p in grid], rows)


def print_table():
    print("/* p and the three weights of figures 2 and 3; made by: python3 tests/oracle/weigh_oracle.py --table */")
    print("static const double figure23[][4] = {")
    for percent in (-100, -25, 0, 5, 10, 15, 18, 20, 23, 26, 30, 35, 40, 45, 50, 55, 60, 66, 70, 75, 80, 90, 100, 125,
                    200):
        p = Fraction(percent, 100)
        print("    {" + ", ".join("%.17g" % float(v) for v in [p] + figure_weights(p)) + "},")
    print("};")


# Continuity: what has no jump shrinks with the step ------------------------------------------------------------------

def turn_cases(rng):
    """Two full turns about several axes, in steps of 1 and of 0.01 degrees; the results of both turns must agree."""
    for note, axes in list(rotation_spaces(rng))[:5]:
        points = place(rng, axes, 8)
        base = place(rng, axes, 1)[0]
        about = rng.normal(size=3)
        about /= np.linalg.norm(about)

        def at(degrees, axes=axes, base=base, about=about):
            row, half = base.copy(), np.radians(degrees) / 2
            for axis, part in ref.parts(axes, row[None]):
                if axis.kind != SCALAR:
                    part[:] = [*(np.sin(half) * about), np.cos(half)]
            return row

        options = ({"kernel": "bspline"}, {"kernel": "gaussian"}, {"kernel": "biharmonic"}, {"kind": "shepard"},
                   {"kind": "nearest", "neighbours": 3}, {"kind": "nearest"})
        yield note, [Spec(axes, points, **o) for o in options], at, [0, 720], 100


def cell_cases(rng):
    """Through cells of a 4 x 4 x 4 grid and of a lone cube, along a diagonal, an axis and a slanted line."""
    axes = [Axis(SCALAR, 0, 3) for _ in range(3)]
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    cube = grid[np.all((grid >= 1) & (grid <= 2), axis=1)]
    for name, points in (("grid", grid), ("cube", cube)):
        for direction in ([1, 1, 1], [1, 0, 0], [1, 0.3, -0.7]):
            def at(t, direction=np.array(direction)):
                return np.array([1.5, 1.5, 1.5]) + t * direction
            yield f"{name} {direction}", [Spec(axes, points, kind="nearest")], at, [-1.4, 1.4], 100


def centre_cases():
    axes = [Axis(SCALAR, 0, 3) for _ in range(3)]
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = np.all((grid >= 1) & (grid <= 2), axis=1)
    for paper in (False, True):
        for points, row in ((grid, inside / 8), (grid[inside], np.full(8, 1 / 8))):
            spec = Spec(axes, points, kind="nearest", paper=paper)
            yield Case("centre of a cell of eight", spec, [[1.5] * 3], {0: row})
