"""The weighers computed a second time, in numpy and scipy, from the design and the papers and not from the C code.

Two formulations must agree before the C code is asked:

  first   every axis is embedded in a Euclidean space (a rotation as q q^T, a swing as the direction it points to), the
          plane comes from an SVD, the radial part from an LU solve, the coupled kernels from the bordered system;
  second  distances come from relative rotations and angles, the plane from a pivoted QR, the weights from the
          transposed system (one solve for each query, none for each example), the coupled kernels from the null space
          of the polynomials.

"Shape by Example", sections 3 and 4, gives the cardinal weights; "Articulated Body Deformation from Range Scan Data",
equation 5, the nearest ones (with the threshold moved to the next distance).
"""
import numpy as np
import scipy.interpolate
import scipy.linalg
from scipy.spatial.distance import cdist
from scipy.spatial.transform import Rotation

SCALAR, ROTATION, SWING, TWIST = range(4)
EPSILON = np.finfo(float).eps
RANK = 1e-10  # smaller singular values, relative to the largest, count as zero; no case comes near it from above


def bspline(r):
    return np.where(r < 1, 2 / 3 - r**2 + r**3 / 2, np.where(r < 2, (2 - np.minimum(r, 2)) ** 3 / 6, 0))


def thin_plate(r):
    return r**2 * np.log(np.where(r > 0, r, 1))


TWO_STAGE = {
    "bspline": bspline,
    "gaussian": lambda r: np.exp(-(r**2) / 2),
    "wendland": lambda r: np.maximum(1 - r / 2, 0) ** 4 * (2 * r + 1),
    "inverse_multiquadric": lambda r: 1 / np.sqrt(1 + r**2),
}
COUPLED = {
    "thin_plate": thin_plate,
    "biharmonic": lambda r: r,
    "triharmonic": lambda r: r**3,
    "multiquadric": lambda r: np.sqrt(1 + r**2),
}
KERNELS = {**TWO_STAGE, **COUPLED}
# -r and -sqrt(1 + r^2) are the conditionally positive ones, so a smoothing ridge must be subtracted from theirs.
RIDGE_SIGN = {"biharmonic": -1, "multiquadric": -1}
SCIPY = {"thin_plate": "thin_plate_spline", "biharmonic": "linear", "triharmonic": "cubic",
         "multiquadric": "multiquadric"}


class Axis:
    def __init__(self, kind=SCALAR, low=0.0, high=1.0, rest=0.0, rotation=(0, 0, 0, 1), about=(0, 1, 0), scale=0.0,
                 clamp=False, limit="kind"):
        self.kind, self.low, self.high, self.rest = kind, low, high, rest
        self.rotation, self.about, self.scale, self.clamp = list(rotation), list(about), scale, clamp
        self.limit = limit
        self.width = 1 if kind == SCALAR else 4

    def direction(self):
        return np.asarray(self.about, float) / np.linalg.norm(self.about)


class Spec:
    """The full definition of a weigher. pseudos: (at, "from", point) or (at, "weights", row)."""

    def __init__(self, axes, points, pseudos=(), kind="cardinal", kernel="bspline", linear=True, radius=1.0, ridge=0.0,
                 power=2.0, neighbours=8, paper=False, falloffs=None, metrics=None, sets=(), overshoot=0.1):
        self.axes, self.points, self.pseudos = list(axes), np.asarray(points, float), list(pseudos)
        self.kind, self.kernel, self.linear, self.radius, self.ridge = kind, kernel, linear, radius, ridge
        self.power, self.neighbours, self.paper = power, neighbours, paper
        self.overshoot = overshoot
        self.falloffs, self.metrics, self.sets = falloffs, metrics, [np.asarray(s) for s in sets]
        self.dimension = sum(a.width for a in self.axes)


def unit_rotation(q, rest):
    if not np.all(np.isfinite(q)):
        q = np.asarray(rest, float)
    length = np.linalg.norm(q)
    return np.asarray(q) / length if length > 0 else np.array([0.0, 0, 0, 1])


def read_points(axes, points, clamp):
    """Points as evaluation reads them. Examples stay where they are: only queries are clamped."""
    result, column = np.array(points, float), 0
    for axis in axes:
        for row in result:
            part = row[column : column + axis.width]
            if axis.kind != SCALAR:
                part[:] = unit_rotation(part, unit_rotation(axis.rotation, [0, 0, 0, 1]))
                continue
            reach = 1e6 * (axis.high - axis.low)
            value = part[0] if np.isfinite(part[0]) else axis.rest
            value = min(max(value, axis.rest - reach), axis.rest + reach)
            part[0] = min(max(value, axis.low), axis.high) if axis.clamp and clamp else value
        column += axis.width
    return result


def parts(axes, points):
    column = 0
    for axis in axes:
        yield axis, points[:, column : column + axis.width]
        column += axis.width


def axis_scale(axis, angular):
    if axis.scale:
        return axis.scale
    return 1 / (axis.high - axis.low) if axis.kind == SCALAR else 1.0 if angular else 0.5


def twist_pair(axis, q):
    pair = np.stack([q[:, :3] @ axis.direction(), q[:, 3]], axis=1)
    length = np.linalg.norm(pair, axis=1, keepdims=True)
    return np.where(length > 0, pair / np.where(length > 0, length, 1), [0, 1])


def swing_direction(axis, q):
    v, w, a = q[:, :3], q[:, 3:], axis.direction()
    return a + 2 * w * np.cross(v, a) + 2 * np.cross(v, np.cross(v, a))


def chord_distance(axes, a, b):
    """The cardinal weighers' distance, by embedding. |q q^T - p p^T| is sqrt(2) sin(angle/2)."""
    left, right = [], []
    for (axis, p), (_, q) in zip(parts(axes, a), parts(axes, b)):
        scale = axis_scale(axis, False)
        for points, out in ((p, left), (q, right)):
            if axis.kind == SCALAR:
                out.append(points * scale)
            elif axis.kind == SWING:
                out.append(swing_direction(axis, points) * scale)
            else:
                unit = points if axis.kind == ROTATION else twist_pair(axis, points)
                square = np.einsum("ni,nj->nij", unit, unit).reshape(len(unit), -1)
                out.append(square * (scale * np.sqrt(2)))
    return cdist(np.hstack(left), np.hstack(right))


def angle_between(axis, p, q):
    """Rotation angles [p][q] in radians: from relative rotations, crosses and wrapped differences."""
    if axis.kind == ROTATION:
        return np.stack([(Rotation.from_quat(p) * Rotation.from_quat(row).inv()).magnitude() for row in q], axis=1)
    if axis.kind == SWING:
        from_p = Rotation.from_quat(p).apply(axis.direction())[:, None]
        from_q = Rotation.from_quat(q).apply(axis.direction())[None]
        return np.arctan2(np.linalg.norm(np.cross(from_p, from_q), axis=2), np.sum(from_p * from_q, axis=2))
    turn = [2 * np.arctan2(*twist_pair(axis, r).T) for r in (p, q)]
    difference = np.abs(turn[0][:, None] - turn[1][None])
    return np.pi - np.abs(np.pi - difference % (2 * np.pi))


def angle_distance(axes, a, b, angular):
    """The second computation of both distances: chords from angles, or angles over half a turn."""
    square = 0
    for (axis, p), (_, q) in zip(parts(axes, a), parts(axes, b)):
        if axis.kind == SCALAR:
            difference = p - q.T
        else:
            angle = angle_between(axis, p, q)
            difference = angle / np.pi if angular else 2 * np.sin(angle / 2)
        square = square + (difference * axis_scale(axis, angular)) ** 2
    return np.sqrt(square)


def scaled_scalars(spec, points):
    columns = [p * axis_scale(axis, False) for axis, p in parts(spec.axes, points) if axis.kind == SCALAR]
    return np.hstack(columns) if columns and spec.linear else np.zeros((len(points), 0))


def radii(distance, radius, common):
    n = len(distance)
    nearest = np.min(distance + np.where(np.eye(n) > 0, np.inf, 0), axis=1) if n > 1 else np.ones(n)
    return np.full(n, nearest.mean() * radius) if common else nearest * radius


class Cardinal:
    """Solved from values F [points][examples]; weights() by the first formulation, transposed() by the second."""

    def __init__(self, spec, points, values):
        self.spec, self.points, self.values = spec, points, values
        self.kernel, self.coupled = KERNELS[spec.kernel], spec.kernel in COUPLED
        scalars = scaled_scalars(spec, points)
        self.centre = scalars.mean(axis=0)
        self.poly = np.hstack([np.ones((len(points), 1)), scalars - self.centre])
        distance = chord_distance(spec.axes, points, points)
        self.rho = radii(distance, spec.radius, self.coupled)
        ridge = spec.ridge * RIDGE_SIGN.get(spec.kernel, 1)
        self.matrix = self.kernel(distance / self.rho) + ridge * np.eye(len(points))
        if self.coupled:
            self.solve_coupled()
        else:
            self.slope = np.linalg.lstsq(self.poly, values, rcond=RANK)[0]
            self.condition = np.linalg.cond(self.matrix, 1)
            self.radial = scipy.linalg.solve(self.matrix, values - self.poly @ self.slope)

    def solve_coupled(self):
        u, s, _ = np.linalg.svd(self.poly, full_matrices=False)
        u = u[:, s > RANK * s[0]]
        n, rank = u.shape
        size = np.abs(self.matrix).max() or 1.0  # balances the two blocks
        system = np.block([[self.matrix / size, u], [u.T, np.zeros((rank, rank))]])
        solution = scipy.linalg.solve(system, np.vstack([self.values, np.zeros((rank, self.values.shape[1]))]))
        self.radial = solution[:n] / size
        self.slope = np.linalg.lstsq(self.poly, u @ solution[n:], rcond=RANK)[0]
        self.condition = np.linalg.cond(system, 1)

    def query_poly(self, queries):
        return np.hstack([np.ones((len(queries), 1)), scaled_scalars(self.spec, queries) - self.centre])

    def weights(self, queries):
        basis = self.kernel(chord_distance(self.spec.axes, queries, self.points) / self.rho)
        flat = self.query_poly(queries)
        # Size of the summed terms, the measure for rounding in the sum.
        self.amplitude = np.max(np.abs(basis) @ np.abs(self.radial) + np.abs(flat) @ np.abs(self.slope), axis=1)
        return basis @ self.radial + flat @ self.slope

    def plane_inverse(self):
        """The pseudo-inverse of the polynomials by a complete orthogonal decomposition."""
        q, r, pivot = scipy.linalg.qr(self.poly, mode="economic", pivoting=True)
        rank = int(np.sum(np.abs(np.diag(r)) > RANK * np.abs(r[0, 0])))
        z, l = np.linalg.qr(r[:rank].T)
        inverse = np.empty(self.poly.shape[::-1])
        inverse[pivot] = z @ scipy.linalg.solve_triangular(l.T, q[:, :rank].T, lower=True)
        return inverse, rank

    def transposed(self, queries):
        spec = self.spec
        distance = angle_distance(spec.axes, self.points, self.points, False)
        np.fill_diagonal(distance, 0)
        rho = radii(distance, spec.radius, self.coupled)
        matrix = self.kernel(distance / rho) + spec.ridge * RIDGE_SIGN.get(spec.kernel, 1) * np.eye(len(distance))
        basis = self.kernel(angle_distance(spec.axes, queries, self.points, False) / rho)
        flat, (inverse, rank) = self.query_poly(queries), self.plane_inverse()
        if not self.coupled:
            u = scipy.linalg.solve(matrix.T, basis.T).T
            return u @ self.values - (u @ self.poly - flat) @ (inverse @ self.values)
        null = scipy.linalg.qr(self.poly, pivoting=True)[0][:, rank:]
        u = flat @ inverse  # the affine part; the rest of the basis goes through the null space
        rest = (basis - u @ matrix) @ null
        if null.shape[1]:
            u = u + scipy.linalg.solve(null.T @ matrix @ null, rest.T).T @ null.T
        return u @ self.values

    def interpolator(self, queries):
        """scipy's own interpolator, for problems it shares with ours: coupled kernels, scalar axes that span the
        plane."""
        spec = self.spec
        inverse, rank = self.plane_inverse()
        if not self.coupled or rank < self.poly.shape[1] or any(a.kind != SCALAR for a in spec.axes):
            return None
        scale = np.array([axis_scale(a, False) for a in spec.axes]) / self.rho[0]
        fit = scipy.interpolate.RBFInterpolator(self.points * scale, self.values, kernel=SCIPY[spec.kernel], epsilon=1,
                                                degree=1 if spec.linear else 0, smoothing=spec.ridge)
        return fit(queries * scale)


class Bells:
    """One system of a gaussian weigher: points with falloffs [points][axes] and metrics (or None), and values F."""

    def __init__(self, spec, points, falloffs, metrics, values):
        self.spec, self.points, self.falloffs, self.metrics, self.values = spec, points, falloffs, metrics, values
        plain = self.bells(points, chord_distance)
        self.matrix = plain + spec.ridge * np.eye(len(points))
        self.condition = max(np.linalg.cond(plain, 1), np.linalg.cond(self.matrix, 1))
        self.radial = scipy.linalg.solve(self.matrix, values)

    def bells(self, queries, measure):
        """exp(-r^2/2) [queries][points]; every axis separately, scalars together if a point has a metric."""
        square = np.zeros((len(queries), len(self.points)))
        scaled = [scaled_scalars(self.spec, p) for p in (queries, self.points)]
        own = [self.metrics is not None and bool(np.any(self.metrics[k])) for k in range(len(self.points))]
        for a, ((axis, p), (_, q)) in enumerate(zip(parts(self.spec.axes, queries), parts(self.spec.axes, self.points))):
            part = (measure([axis], p, q) / self.falloffs[:, a]) ** 2
            square += part if axis.kind != SCALAR else np.where(own, 0, part)
        for k in np.flatnonzero(own):
            if measure is chord_distance:
                d = scaled[0] - scaled[1][k]
                square[:, k] += np.einsum("qi,ij,qj->q", d, self.metrics[k], d)
            else:
                square[:, k] += cdist(scaled[0], scaled[1][k : k + 1], "mahalanobis", VI=self.metrics[k])[:, 0] ** 2
        return np.exp(-square / 2)

    def weights(self, queries):
        basis = self.bells(queries, chord_distance)
        self.amplitude = np.max(np.abs(basis) @ np.abs(self.radial), axis=1)
        return basis @ self.radial

    def transposed(self, queries):
        measure = lambda axes, p, q: angle_distance(axes, p, q, False)
        matrix = self.bells(self.points, measure)
        np.fill_diagonal(matrix, 1 + self.spec.ridge)
        return scipy.linalg.solve(matrix.T, self.bells(queries, measure).T).T @ self.values


class Gaussian:
    """All examples, then every set as if there were no other examples; one after the other in one row."""

    def __init__(self, spec):
        examples = read_points(spec.axes, spec.points, False)
        at = read_points(spec.axes, [p[0] for p in spec.pseudos], False) if spec.pseudos else examples[:0]
        m, n = len(examples), len(examples) + len(at)
        given = np.zeros((n, len(spec.axes))) if spec.falloffs is None else np.asarray(spec.falloffs, float)
        metrics = [None if spec.metrics is None else spec.metrics[k] for k in range(n)]
        real, whole = (np.where(given[: len(p)] > 0, given[: len(p)], self.default(spec, p))
                       for p in (examples, np.vstack([examples, at])))

        def system(members):
            fit = lambda points, falloffs, rows, values: Bells(
                spec, points, falloffs, None if spec.metrics is None else [metrics[k] for k in rows], values)
            values = np.eye(len(members))
            alone = fit(examples[members], real[members], members, values)
            for _, source, row in spec.pseudos:
                drawn = source == "from"
                values = np.vstack([values, alone.weights(read_points(spec.axes, [row], True))[0] if drawn
                                    else np.asarray(row)[members]])
            rows = np.concatenate([members, np.arange(m, n)])
            full = fit(np.vstack([examples[members], at]), whole[rows], rows, values)
            full.condition = max(full.condition, alone.condition)
            return full

        self.systems = [system(members) for members in [np.arange(m)] + [np.flatnonzero(s) for s in spec.sets]]
        self.matrix, self.condition = self.systems[0].matrix, max(s.condition for s in self.systems)

    @staticmethod
    def default(spec, points):
        return radii(chord_distance(spec.axes, points, points), 1.0, False).mean()

    def weights(self, queries):
        rows = np.hstack([s.weights(queries) for s in self.systems])
        self.amplitude = np.max([s.amplitude for s in self.systems], axis=0)
        return rows

    def transposed(self, queries):
        return np.hstack([s.transposed(queries) for s in self.systems])


class Inverse:
    """Shepard and nearest: weights over all points, then each point's share is spread by its own row of values."""

    condition = 1.0

    def __init__(self, spec, points, values):
        self.spec, self.points, self.values = spec, points, values

    def share(self, distance):
        spec, n = self.spec, len(distance)
        if distance.min() == 0:
            return (distance == 0) / np.sum(distance == 0)
        ratio = distance.min() / distance  # 1/D up to a factor, which cannot overflow
        if spec.kind == "shepard":
            return ratio**spec.power / np.sum(ratio**spec.power)
        k = spec.neighbours
        order = np.sort(ratio)[::-1]
        place = k - 1 if spec.paper else k
        threshold = order[place] if place < n else 0.0
        share = np.maximum(ratio - threshold, 0)
        if share.sum() == 0:  # all relevant points are equally far: equal shares are the only symmetric answer
            share = (ratio == order[0]).astype(float)
        return share / share.sum()

    def weights(self, queries):
        distance = angle_distance(self.spec.axes, queries, self.points, True)
        self.amplitude = np.ones(len(queries))
        return np.stack([self.share(row) for row in distance]) @ self.values

    def transposed(self, queries):
        """By the definition, one query and one point at a time."""
        rows = []
        for query in queries:
            distance = [self.slow_distance(query, point) for point in self.points]
            k = self.spec.neighbours - (1 if self.spec.paper else 0)
            if min(distance) < 1e-15:
                share = [1.0 if d < 1e-15 else 0.0 for d in distance]
            elif self.spec.kind == "shepard":
                share = [d**-self.spec.power for d in distance]
            else:
                edge = 1 / sorted(distance)[k] if k < len(distance) else 0
                share = [max(1 / d - edge, 0) for d in distance]
                if sum(share) < 1e-14 / min(distance):
                    share = [1.0 if d < min(distance) * (1 + 1e-13) else 0.0 for d in distance]
            rows.append(np.array(share) / sum(share) @ self.values)
        return np.stack(rows)

    def slow_distance(self, a, b):
        square = 0.0
        for (axis, p), (_, q) in zip(parts(self.spec.axes, a[None]), parts(self.spec.axes, b[None])):
            p, q = p[0], q[0]
            if axis.kind == SCALAR:
                difference = p[0] - q[0]
            else:
                if axis.kind == TWIST:
                    p, q = twist_pair(axis, p[None])[0], twist_pair(axis, q[None])[0]
                if axis.kind == SWING:
                    p, q = swing_direction(axis, p[None])[0], swing_direction(axis, q[None])[0]
                    difference = 2 * np.arctan2(np.linalg.norm(p - q), np.linalg.norm(p + q)) / np.pi
                else:
                    near, far = sorted([np.linalg.norm(p - q), np.linalg.norm(p + q)])
                    difference = 4 * np.arctan2(near, far) / np.pi
            square += (difference * axis_scale(axis, True)) ** 2
        return np.sqrt(square)


class Direct:
    condition = 1.0

    def weights(self, queries):
        self.amplitude = np.ones(len(queries))
        return queries

    transposed = weights


def solve(spec):
    """A solver for a spec; values are the identity for examples, and each pseudo-example's row under it."""
    if spec.kind == "direct":
        return Direct()
    if spec.kind == "calm":
        return calm_reference.solve(spec)
    if any(a.limit in ("hold", "fade") for a in spec.axes):
        return limited(spec)
    if spec.kind == "gaussian":
        return Gaussian(spec)
    return plain(spec)


def limited(spec):
    """Other kinds with limits: the same solver, asked elsewhere. Without pseudo-examples, whose sources are held, too."""
    points = read_points(spec.axes, spec.points, False)
    return calm_reference.Limited(spec, points, Gaussian if spec.kind == "gaussian" else plain)


def plain(spec):
    kind = Cardinal if spec.kind == "cardinal" else Inverse
    points = read_points(spec.axes, spec.points, False)
    values = np.eye(len(points))
    real = kind(spec, points, values)
    for at, source, given in spec.pseudos:
        row = real.weights(read_points(spec.axes, [given], True))[0] if source == "from" else given
        points = np.vstack([points, read_points(spec.axes, [at], False)])
        values = np.vstack([values, row])
    if not spec.pseudos:
        return real
    full = kind(spec, points, values)
    full.condition = max(full.condition, real.condition)
    return full


def distances(spec, query):
    points = read_points(spec.axes, np.vstack([spec.points] + [p[0] for p in spec.pseudos]), False)
    query = read_points(spec.axes, [query], True)
    return angle_distance(spec.axes, query, points, spec.kind not in ("cardinal", "gaussian", "calm"))[0]


import calm_reference  # noqa: E402  (which uses what is above)
