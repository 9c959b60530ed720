"""The calm weigher and the limits of axes, a second time: docs/mathematics.md in numpy, not the C code.

Two formulations, as in weigh_reference.py: the bordered system in the Euclidean embedding, and the null space of the
polynomials with distances from angles, solved once for each query.
"""
import numpy as np
import scipy.linalg
import scipy.optimize

import weigh_reference as ref

KNEE, FREE, DRAW = 0.75, 0.05, 0.1


def bend(x, limit):
    """x up to 3/4 of the limit; beyond, a hyperbola with the same slope that tends to the limit."""
    knee = KNEE * limit
    past = np.maximum(x - knee, 0) / (limit - knee)
    return np.minimum(x, knee) + (limit - knee) * past / (1 + past)


def small(x, soft):
    return x**2 / (x + soft)


def keep_bound(v, overshoot):
    """Rows of weights v, completed by the remainder to a sum of 1, with the bound kept."""
    whole = np.hstack([v, 1 - v.sum(axis=1, keepdims=True)])
    count, bound = whole.shape[1], max(overshoot, FREE)
    plus, minus = np.maximum(whole, 0), bend(np.maximum(-whole, 0), bound)
    total, below = plus.sum(axis=1, keepdims=True), minus.sum(axis=1, keepdims=True)
    room = KNEE * bound * total**2 / (plus**2).sum(axis=1, keepdims=True)
    less = 1 - np.where(below > 0, bend(below, room) / np.where(below > 0, below, 1), 1)
    minus = minus - less * small(minus, bound / 4 / count)
    taken = small(plus, min(bound / 8, 0.5 / count))
    excess = np.maximum(total - minus.sum(axis=1, keepdims=True) - 1, 0)
    sum_taken = taken.sum(axis=1, keepdims=True)
    result = plus - excess / np.where(sum_taken > 0, sum_taken, 1) * taken - minus
    if overshoot < FREE:
        drawn = small(plus, DRAW)
        share = overshoot / FREE
        result = share * result + (1 - share) * drawn / drawn.sum(axis=1, keepdims=True)
    return result[:, :-1]


def with_remainder(row):
    remainder = 1 - np.sum(row)
    return np.append(row, remainder if abs(remainder) > 1e-9 else 0.0)


def before_bound(row, overshoot):
    """Weights that keep_bound turns into the row: t v + (1 - t) small(v)/S = q, with the S that gives them a sum of 1."""
    whole, t = with_remainder(row), overshoot / FREE

    def at(size):
        one = lambda v, q: t * v + (1 - t) * small(v, DRAW) / size - q
        return np.array([q / t if q < 0 else 0.0 if q == 0 else scipy.optimize.brentq(one, 0, 10, args=(q,), xtol=1e-17)
                         for q in whole])

    size = scipy.optimize.brentq(lambda s: at(s).sum() - 1, 1e-9, 1.5, xtol=1e-16)
    return at(size)[:-1]


def needed_bound(row, overshoot):
    """The overshoot, or what leaves a given row alone if that is more."""
    whole = with_remainder(row)
    plus, minus = np.maximum(whole, 0), np.maximum(-whole, 0)
    together = minus.sum() * (plus**2).sum() / (KNEE * plus.sum()) ** 2 * (1 + 1e-12)
    return max(overshoot, minus.max() / KNEE, together)


class Calm:
    def __init__(self, spec, points, values):
        self.spec, self.points, self.values, self.bound = spec, points, values, spec.overshoot
        scalars = ref.scaled_scalars(spec, points)
        self.centre = scalars.mean(axis=0)
        self.poly = np.hstack([np.ones((len(points), 1)), scalars - self.centre])
        self.matrix, self.radii = self.kernels(ref.chord_distance)
        u, s, _ = np.linalg.svd(self.poly, full_matrices=False)
        u = u[:, s > ref.RANK * s[0]]
        n, rank = u.shape
        size = np.abs(self.matrix).max() or 1.0
        system = np.block([[self.matrix / size, u], [u.T, np.zeros((rank, rank))]])
        solution = scipy.linalg.solve(system, np.vstack([values, np.zeros((rank, values.shape[1]))]))
        self.radial = solution[:n] / size
        self.slope = np.linalg.lstsq(self.poly, u @ solution[n:], rcond=ref.RANK)[0]
        self.condition = np.linalg.cond(system, 1)

    def kernels(self, measure):
        distance = measure(self.spec.axes, self.points, self.points)
        np.fill_diagonal(distance, 0)
        radii = min(0.5, 2.5 * self.spec.overshoot) * ref.radii(distance, 1.0, False)
        return self.rounded(distance, radii), radii

    @staticmethod
    def rounded(distance, radii):
        t = np.minimum(distance / np.where(radii > 0, radii, 1), 1)
        return np.where(distance < radii, radii * (3 + 6 * t**2 - t**4) / 8, distance)

    def query_poly(self, queries):
        return np.hstack([np.ones((len(queries), 1)), ref.scaled_scalars(self.spec, queries) - self.centre])

    def free_weights(self, queries):
        basis = self.rounded(ref.chord_distance(self.spec.axes, queries, self.points), self.radii)
        flat = self.query_poly(queries)
        self.amplitude = np.max(np.abs(basis) @ np.abs(self.radial) + np.abs(flat) @ np.abs(self.slope), axis=1)
        return basis @ self.radial + flat @ self.slope

    def weights(self, queries):
        return keep_bound(self.free_weights(queries), self.bound)

    def transposed(self, queries):
        measure = lambda axes, p, q: ref.angle_distance(axes, p, q, False)
        matrix, radii = self.kernels(measure)
        basis = self.rounded(measure(self.spec.axes, queries, self.points), radii)
        rank = np.linalg.matrix_rank(self.poly, tol=ref.RANK * np.linalg.norm(self.poly, 2))
        null = scipy.linalg.qr(self.poly, pivoting=True)[0][:, rank:]
        u = self.query_poly(queries) @ np.linalg.pinv(self.poly, rcond=ref.RANK)
        rest = (basis - u @ matrix) @ null
        if null.shape[1]:
            u = u + scipy.linalg.solve(null.T @ matrix @ null, rest.T).T @ null.T
        return keep_bound(u @ self.values, self.bound)


def solve(spec):
    points = ref.read_points(spec.axes, spec.points, False)
    values, bound = np.eye(len(points)), spec.overshoot
    real = Limited(spec, points, lambda s: Calm(s, points, values))
    for at, source, given in spec.pseudos:
        if source == "from":
            row = real.free(ref.read_points(spec.axes, [given], True))[0]
        else:
            bound = needed_bound(given, bound)
            row = np.asarray(given, float)
        points = np.vstack([points, ref.read_points(spec.axes, [at], False)])
        values = np.vstack([values, row])
    if bound < FREE:
        for k, (_, source, given) in enumerate(spec.pseudos):
            if source == "weights":
                values[len(spec.points) + k] = before_bound(given, bound)

    def make(s):
        calm = Calm(s, points, values)
        calm.bound = bound
        return calm

    full = Limited(spec, points, make)
    full.condition = max(full.condition, real.condition)
    return full


class Limited:
    """A solver whose queries are held, and whose weights fade, beyond the points on axes that say so."""

    def __init__(self, spec, points, make):
        self.spec, self.points, self.solver = spec, points, make(spec)
        self.condition = self.solver.condition
        self.matrix = getattr(self.solver, "matrix", None)

    def limits(self):
        for axis in self.spec.axes:
            limit = axis.limit
            if limit == "kind":
                limit = "hold" if self.spec.kind == "calm" else "extrapolate"
            yield limit

    def reach(self):
        angular = self.spec.kind in ("shepard", "nearest")
        return ref.radii(ref.angle_distance(self.spec.axes, self.points, self.points, angular), 1.0, False)

    def limited(self, queries):
        """Queries that are held, and the factor of each."""
        queries, factor, reach = np.array(queries, float), np.ones(len(queries)), self.reach()
        angular = self.spec.kind in ("shepard", "nearest")
        pairs = zip(ref.parts(self.spec.axes, queries), ref.parts(self.spec.axes, self.points), self.limits())
        for (axis, mine), (_, theirs), limit in pairs:
            scale = ref.axis_scale(axis, angular)
            if limit == "fade":
                if axis.kind == ref.SCALAR:
                    excess = np.maximum(theirs.min() - mine[:, 0], mine[:, 0] - theirs.max()) * scale
                else:
                    excess = ref.angle_distance([axis], mine, theirs, angular).min(axis=1) - reach.mean()
                t = np.clip(excess / reach.mean(), 0, 1)
                factor *= (1 - t**2) ** 2
            if limit in ("hold", "fade") and axis.kind == ref.SCALAR:
                for end, sign in ((np.argmax(theirs[:, 0]), 1), (np.argmin(theirs[:, 0]), -1)):
                    soft = reach[end] / 32 / scale
                    t = np.clip(sign * (mine[:, 0] - theirs[end, 0]) / soft, 0, 2)
                    beyond = sign * (mine[:, 0] - theirs[end, 0]) > 0
                    mine[:, 0] = np.where(beyond, theirs[end, 0] + sign * soft * t * (1 - t / 2) ** 2, mine[:, 0])
        return queries, factor[:, None]

    def free(self, queries):
        return self.solver.free_weights(self.limited(queries)[0])

    def weights(self, queries):
        held, factor = self.limited(queries)
        rows = self.solver.weights(held) * factor
        self.amplitude = self.solver.amplitude
        return rows

    def transposed(self, queries):
        held, factor = self.limited(queries)
        return self.solver.transposed(held) * factor
