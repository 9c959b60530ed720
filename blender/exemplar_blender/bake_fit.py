# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights of a layer as formulas that Blender's drivers can compute without Python.

Over one number, a weight is a curve of straight pieces. Over two, it is a short sum of products of such curves, which a
singular value decomposition finds. Over more numbers, or rotations, it is
w(p) = c + sum_i a_i f_i(p) + sum_j b_j k(|f(p) - f(p_j)|), with f the features of a place: a scaled number, the direction in
which a swing points, the cosine and sine of a twist, the products of the numbers of a quaternion. Centres p_j are the
examples, the pseudo-examples, and then the samples where the fit is worst; a, b and c are least squares. The kernel k is
that of KERNELS that fits other samples best.
"""
import math

import numpy

TOLERANCE = 5e-4  # of weight
KEYS_MOST = 256
CENTRES_MOST = 144
SAMPLES = 2500
TERMS_MOST = 10
KERNELS = [  # of the squared distance, here and in a driver
    (lambda d: d ** 1.5, "pow({},1.5)"),
    (lambda d: numpy.sqrt(d + 0.01), "sqrt({}+0.01)"),
    (lambda d: numpy.exp(-d / 0.36), "exp(-({})/0.36)"),
]
BEYOND = 0.25  # of the range of a number, on either side; farther out the formula stays what it is there


def pieces(at, values, known, tolerance=TOLERANCE):
    """The samples (n) that straight pieces need to be within a tolerance of all samples, at most KEYS_MOST. known: values of
    `at` that must be among them, so that examples come back."""
    inside = numpy.clip(known, at[0], at[-1])
    ends = sorted({0, len(at) - 1, *numpy.searchsorted(at, inside).tolist()})[:KEYS_MOST // 2]
    ends = sorted({*ends, len(at) - 1})
    while True:
        chosen, open_ = set(ends), list(zip(ends, ends[1:]))
        while open_:
            a, b = open_.pop()
            if b - a < 2:
                continue
            line = numpy.interp(at[a:b + 1], at[[a, b]], values[[a, b]])
            off = numpy.abs(values[a:b + 1] - line)
            worst = int(off.argmax())
            if off[worst] > tolerance:
                chosen.add(a + worst)
                open_ += [(a, a + worst), (a + worst, b)]
        if len(chosen) <= KEYS_MOST:
            return sorted(chosen)
        tolerance *= 1.5


class Number:
    """An axis with one number. low, high: the range that is sampled."""

    width = count = 1

    def __init__(self, axis, places, holds):
        least, most = min(places.min(), axis.rest), max(places.max(), axis.rest)
        span = (most - least) or 1.0
        more = 0 if holds and most > least else BEYOND * span
        self.low, self.high, self.scale = least - more, most + more, 1 / span
        if axis.reading == "angle":
            middle = (axis.min + axis.max) / 2
            self.low, self.high = max(self.low, middle - 180), min(self.high, middle + 180 - 1e-6)

    def samples(self, random, count, places):
        return random.uniform(self.low, self.high, (count, 1))

    def features(self, places):
        return numpy.clip(places, self.low, self.high) * self.scale


class Turn:
    """An axis that is a rotation: its swing, its twist, or all of it."""

    width = 4

    def __init__(self, axis):
        self.kind, self.about = axis.kind, numpy.asarray(axis.about) / numpy.linalg.norm(axis.about)
        self.count = {"swing": 3, "twist": 2, "rotation": 10}[axis.kind]

    def samples(self, random, count, places):
        """Rotations near the examples and between them and rest, and some of all."""
        known = numpy.vstack([places, [[0, 0, 0, 1]]])
        a, b = known[random.integers(len(known), size=(2, count))]
        b = b * numpy.where((a * b).sum(1) < 0, -1, 1)[:, None]
        share = random.uniform(-0.1, 1.1, (count, 1))
        made = (1 - share) * a + share * b + random.normal(0, 0.12, (count, 4))
        far = random.random(count) < 0.2
        made[far] = random.normal(size=(int(far.sum()), 4))
        return made / numpy.linalg.norm(made, axis=1, keepdims=True)

    def features(self, places):
        x, y, z, w = places.T
        if self.kind == "swing":
            a, b, c = self.about
            return numpy.stack([a * (w * w + x * x - y * y - z * z) + 2 * b * (x * y - w * z) + 2 * c * (x * z + w * y),
                                2 * a * (x * y + w * z) + b * (w * w - x * x + y * y - z * z) + 2 * c * (y * z - w * x),
                                2 * a * (x * z - w * y) + 2 * b * (y * z + w * x) + c * (w * w - x * x - y * y + z * z)], 1)
        if self.kind == "twist":
            angle = 2 * numpy.arctan2(places[:, :3] @ self.about, w)
            return numpy.stack([numpy.cos(angle), numpy.sin(angle)], 1)
        upper = numpy.triu_indices(4)
        return numpy.einsum("ni,nj->nij", places, places)[:, upper[0], upper[1]] * numpy.where(upper[0] == upper[1], 1,
                                                                                              math.sqrt(2))


def known_places(weigher):
    """(n, numbers) of the examples and pseudo-examples."""
    return numpy.vstack([weigher.points, *(pseudo.at[None] for pseudo in weigher.pseudos)])


def axes_of(weigher, axes):
    """A Number or Turn for each axis, and its columns of a place."""
    known, made, columns, begin = known_places(weigher), [], [], 0
    for axis, own in zip(axes, weigher.axes):
        holds = own.limit == "hold" or own.limit == "kind" and weigher.kind == "calm"
        made.append(Number(axis, known[:, begin], holds) if axis.width == 1 else Turn(axis))
        columns.append(slice(begin, begin + axis.width))
        begin += axis.width
    return made, columns


class Products:
    """The weights of a layer over two numbers: w_k(a, b) = sum_r first[r](a) second[r, k](b). `at`: the samples of each
    axis; `known`: those of the examples; `first` (terms, n), `second` (terms, examples, n)."""

    def __init__(self, weigher, axes):
        self.axes, _ = axes_of(weigher, axes)
        self.known = known_places(weigher).T
        self.at = [numpy.unique(numpy.clip(numpy.concatenate([numpy.linspace(axis.low, axis.high, 161), known]),
                                           axis.low, axis.high)) for axis, known in zip(self.axes, self.known)]
        a, b = numpy.meshgrid(*self.at, indexing="ij")
        table = weigher.weights(numpy.stack([a.ravel(), b.ravel()], 1)).reshape(*a.shape, -1)
        u, s, v = numpy.linalg.svd(table.transpose(0, 2, 1).reshape(len(a), -1), full_matrices=False)
        count = 1
        while count < min(TERMS_MOST, len(s)) and \
                numpy.abs((u[:, count:] * s[count:]) @ v[count:]).max() > TOLERANCE:
            count += 1
        size = numpy.abs(u[:, :count]).max(0)  # the first curves are within 1
        self.first = (u[:, :count] / size).T
        self.second = (v[:count] * (s[:count] * size)[:, None]).reshape(count, -1, a.shape[1])


class Fit:
    """The weights of a layer over several numbers or rotations. `axes`: a Number or Turn each; `centres`: (c, features);
    `table`: (1 + features + c, examples) coefficients; `kernel`: one of KERNELS; `error`: the largest at samples."""

    def __init__(self, weigher, axes):
        random, known = numpy.random.default_rng(1), known_places(weigher)
        self.axes, self._columns = axes_of(weigher, axes)
        features, wanted = [], []
        for _ in range(2):  # to fit, and to choose
            places = numpy.hstack([axis.samples(random, SAMPLES, known[:, part])
                                   for axis, part in zip(self.axes, self._columns)])
            places = numpy.vstack([known, places])
            features.append(self.features(places))
            wanted.append(weigher.weights(places))
        best = None
        for kernel in KERNELS:
            self.kernel = kernel
            self._fit(features[0], wanted[0], len(known))
            error = numpy.abs(self.basis(features[1]) @ self.table - wanted[1]).max(1)
            if best is None or numpy.quantile(error, 0.99) < best[0]:
                best = numpy.quantile(error, 0.99), float(error.max()), kernel, self.centres, self.table
        _, self.error, self.kernel, self.centres, self.table = best

    def _fit(self, features, wanted, known):
        trust = numpy.ones((len(features), 1))
        trust[:known] = 30  # examples come back
        centres = _different(features[:known], [])
        while True:
            self.centres = features[centres]
            basis = self.basis(features)
            self.table = numpy.linalg.lstsq(basis * trust, wanted * trust, rcond=1e-8)[0]
            off = numpy.abs(basis @ self.table - wanted).max(1)
            more = _different(features, centres, numpy.argsort(-off), 12)
            if off.max() < 2 * TOLERANCE or len(centres) >= CENTRES_MOST or len(more) == len(centres):
                return
            centres = more

    def features(self, places):
        return numpy.hstack([axis.features(places[:, part]) for axis, part in zip(self.axes, self._columns)])

    def basis(self, features):
        squares = (features ** 2).sum(1)[:, None] + (self.centres ** 2).sum(1) - 2 * features @ self.centres.T
        return numpy.hstack([numpy.ones((len(features), 1)), features, self.kernel[0](numpy.maximum(squares, 0))])


def _different(features, centres, order=None, most=None):
    """Adds rows that are apart from the centres chosen so far."""
    out, added = list(centres), 0
    for i in range(len(features)) if order is None else order:
        if not out or numpy.linalg.norm(features[out] - features[i], axis=1).min() > 0.03:
            out.append(int(i))
            added += 1
            if most and added == most:
                break
    return out
