"""The forms that the demos `elbow` and `shoulder` would be sculpted to at any pose, in numpy.

Written anew from what demos/elbow.c, demos/arm/arm_shape.c and demos/shoulder/ say, so that a rig can be compared with
the ideal form between its sculpts. At the sculpts, the forms agree with the files of the demos to their rounding
(section_oracle.py checks it). Lengths are in metres, angles in degrees.
"""
import numpy as np

ARM_COLUMNS, ARM_RINGS, ARM_ELBOW = 20, 58, 0.30
SHOULDER_COLUMNS, SHOULDER_RINGS = 28, 46
# Flexion of the muscles at the sculpts; between them, it is the caller's choice.
FLEXED_AT, FLEXED = (0, 60, 100, 140), (0, 50, 92, 115)


def read_obj(path):
    lines = path.read_text().splitlines()
    points = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float)
    faces = [[int(word.split("/")[0]) - 1 for word in line.split()[1:]] for line in lines if line.startswith("f ")]
    return points, faces


def smooth(t):
    t = np.clip(t, 0, 1)
    return t * t * (3 - 2 * t)


# ---- the elbow ----

# Height of a slim and a strong arm, place, length; direction and width in degrees; the first four again when fully
# flexed. Only the muscles that change with the elbow are here.
BUMPS = np.array([
    [0.004, 0.012, 0.020, 0.040, -5, 55, 0.004, 0.013, 0.020, 0.040],
    [0.003, 0.009, 0.180, 0.042, -6, 44, 0.012, 0.027, 0.168, 0.036],
    [0.003, 0.011, 0.125, 0.048, 165, 40, 0.000, 0.003, 0.120, 0.055],
    [0.002, 0.008, 0.150, 0.045, 225, 36, 0.000, 0.002, 0.145, 0.050],
    [0.003, 0.009, 0.350, 0.040, -55, 40, 0.006, 0.014, 0.355, 0.034],
    [0.002, 0.006, 0.365, 0.042, 55, 42, 0.005, 0.011, 0.368, 0.036],
    [0.001, 0.006, 0.372, 0.045, 215, 42, 0.001, 0.005, 0.375, 0.048],
    [0.003, 0.003, 0.304, 0.016, 180, 30, 0.019, 0.019, 0.301, 0.018],
    [0.002, 0.002, 0.292, 0.014, 95, 26, 0.003, 0.003, 0.294, 0.016],
    [0.0015, 0.0015, 0.294, 0.014, -95, 26, 0.002, 0.002, 0.296, 0.016]])
GENDER = 0.75


def lift(x, angle, flexed):
    """Height of the muscles at places x and angles in degrees about the arm."""
    f, total = flexed / 110, 0
    for b in BUMPS:
        tense = (1 - f) * b[:4] + f * b[6:]
        turn = (angle - b[4] + 180) % 360 - 180
        height = (1 - GENDER) * tense[0] + GENDER * tense[1]
        total = total + height * np.exp(-0.5 * ((x - tense[2]) / tense[3]) ** 2 - 0.5 * (turn / b[5]) ** 2)
    return total


def flexed_arm(straight, flexed):
    """The straight arm with other muscles: each vertex of the tube moves along its section's normal. Sections are
    ellipses with muscles on them. The hand and the patch at the shoulder's end stay."""
    p = straight.copy()
    tube = p[: ARM_RINGS * ARM_COLUMNS].reshape(ARM_RINGS, ARM_COLUMNS, 3)
    degrees = 360 / ARM_COLUMNS * np.arange(ARM_COLUMNS)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    for ring in tube:
        x = ring[0, 0]
        if x > 0.55:
            continue
        end = np.sqrt(1 - max((-0.045 - x) / 0.042, 0) ** 2)  # the arm is rounded off there
        tall, side = half_sizes(x)
        y = np.where(c > 1e-12, tall[0], tall[1])
        normal = np.stack([c / y, s / side])
        normal /= np.linalg.norm(normal, axis=0)
        ring[:, 1:] += (end * (lift(x, degrees, flexed) - lift(x, degrees, 0)) * normal).T
    return p


SECTIONS = np.array([
    [-0.10, 0.052, 0.060, 0.052, 1.20], [-0.05, 0.053, 0.058, 0.053, 1.20], [0.00, 0.051, 0.052, 0.052, 1.19],
    [0.05, 0.046, 0.047, 0.048, 1.17], [0.10, 0.040, 0.043, 0.041, 1.16], [0.15, 0.037, 0.041, 0.037, 1.15],
    [0.20, 0.035, 0.037, 0.035, 1.14], [0.25, 0.032, 0.033, 0.034, 1.13], [0.30, 0.030, 0.031, 0.037, 1.12],
    [0.34, 0.033, 0.032, 0.040, 1.14], [0.39, 0.032, 0.031, 0.037, 1.16], [0.44, 0.027, 0.027, 0.032, 1.15],
    [0.50, 0.021, 0.022, 0.027, 1.14], [0.55, 0.0175, 0.019, 0.0255, 1.14], [0.58, 0.0165, 0.017, 0.0285, 1.13]])


def half_sizes(x):
    """(towards the palm, towards the back), to the sides: Catmull-Rom between the rows."""
    i = int(np.clip(np.searchsorted(SECTIONS[:, 0], x, side="left") - 1, 1, len(SECTIONS) - 3))
    before, p, q, after = SECTIONS[i - 1 : i + 3]
    h = q[0] - p[0]
    t = (x - p[0]) / h
    m, n = (q - before) / (q[0] - before[0]) * h, (after - p) / (after[0] - p[0]) * h
    row = p + t * m + t * t * (3 * (q - p) - 2 * m - n) + t**3 * (m + n - 2 * (q - p))
    factor = 1 + (row[4] - 1) * GENDER
    return (row[1] * factor, row[2] * factor), row[3] * factor


def yielding(height, limit, power):
    """Tends to the limit and never reaches it."""
    with np.errstate(over="ignore"):
        return np.where(height > 0, height / (1 + (np.maximum(height, 0) / limit) ** power) ** (1 / power), height)


def elbow_form(straight, degrees, flexed):
    if degrees <= 0:
        return straight.copy()
    p, angle = flexed_arm(straight, flexed), np.radians(degrees)
    along = p[:, 0] - ARM_ELBOW
    inner, outer, usual = 0.065, 0.05, 0.045
    far = np.maximum(np.abs(along), 1e-4)
    crease = np.where(np.abs(along) < 1e-4, inner / (0.75 * angle),
                      far / np.tan(angle * (smooth((far / inner + 1) / 2) - 0.5)))
    limit = 0.94 * crease
    wider = 1 + 0.18 * (1 - yielding(usual, limit, 8) / usual)
    height = np.where(p[:, 1] > 0, yielding(p[:, 1], limit, 8), p[:, 1] * wider)
    spread = outer + (inner - outer) * smooth((height / 0.035 + 1) / 2)
    turn = angle * smooth((along / spread + 1) / 2)
    return np.stack([ARM_ELBOW + along * np.cos(turn) - height * np.sin(turn),
                     along * np.sin(turn) + height * np.cos(turn), p[:, 2] * wider], axis=1)


# ---- the shoulder ----

def joined(a, b, soft):
    h = np.maximum(soft - np.abs(a - b), 0) / soft
    return np.minimum(a, b) - h * h * soft / 4


def ellipsoid(p, centre, half):
    return (np.linalg.norm((p - centre) / half, axis=-1) - 1) * min(half)


def solid(p):
    """Negative inside of the shoulder at rest."""
    centre, half, edge = np.array([-0.205, -0.135, 0]), np.array([0.125, 0.195, 0.090]), 0.08
    narrow = 1 - 0.22 * smooth((-0.06 - p[..., 1]) / 0.27)
    middle = centre[0] - half[0]
    q = np.stack([middle + (p[..., 0] - middle) / narrow, p[..., 1], p[..., 2] / narrow], axis=-1)
    d = np.abs(q - centre) - (half - edge)
    torso = (np.linalg.norm(np.maximum(d, 0), axis=-1) + np.minimum(d.max(axis=-1), 0) - edge) * narrow
    f = joined(torso, ellipsoid(p, (-0.215, 0.052, -0.012), (0.112, 0.050, 0.060)), 0.05)
    f = joined(f, ellipsoid(p, (-0.17, -0.070, 0.060), (0.110, 0.062, 0.048)), 0.03)
    f = joined(f, ellipsoid(p, (-0.16, -0.060, -0.065), (0.085, 0.080, 0.035)), 0.03)
    t = np.clip((p[..., 0] + 0.05) / 0.34, 0, 1)
    bar = np.linalg.norm(p - np.stack([-0.05 + 0.34 * t, 0 * t, 0 * t], axis=-1), axis=-1) - (0.048 - 0.011 * t)
    f = joined(f, bar, 0.06)
    f = joined(f, ellipsoid(p, (0.175, 0, 0.010), (0.080, 0.043, 0.043)), 0.02)
    return joined(f, ellipsoid(p, (0.015, 0.004, 0), (0.085, 0.060, 0.058)), 0.03)


def solid_normals(p):
    step = 1e-5 * np.eye(3)
    n = np.stack([solid(p + e) - solid(p - e) for e in step], axis=-1)
    return n / np.linalg.norm(n, axis=-1, keepdims=True)


# Up, down, forward or back; place, width, move, and height along the normal.
UP, DOWN, FORWARD, BACK = range(4)
STROKES = [
    (UP, (0.03, 0.05, 0), (0.05, 0.05, 0.06), (0, 0, 0), 0.006),
    (DOWN, (0.0, 0.055, 0), (0.045, 0.04, 0.05), (0.002, 0, 0), 0.006),
    (FORWARD, (0.02, 0.02, 0.05), (0.05, 0.05, 0.04), (0, 0, 0), 0.004),
    (BACK, (0.01, 0.02, -0.05), (0.05, 0.05, 0.04), (0, 0, 0), 0.006),
    (UP, (-0.065, -0.11, 0), (0.06, 0.08, 0.10), (0.024, 0.020, 0), 0),
    (UP, (-0.12, 0.04, 0), (0.08, 0.05, 0.09), (0, 0.010, 0), 0),
    (UP, (0.05, -0.06, 0), (0.05, 0.05, 0.05), (0, 0, 0), -0.008),
    (UP, (-0.02, -0.06, 0.045), (0.05, 0.05, 0.03), (0, 0, 0), 0.004),
    (UP, (-0.02, -0.06, -0.045), (0.05, 0.05, 0.03), (0, 0, 0), 0.005),
    (DOWN, (-0.035, -0.05, 0.05), (0.035, 0.04, 0.03), (0, 0, 0), 0.006),
    (DOWN, (-0.035, -0.05, -0.05), (0.035, 0.04, 0.03), (0, 0, 0), 0.005),
    (FORWARD, (-0.11, -0.06, 0.10), (0.05, 0.06, 0.05), (0, 0, 0), 0.008),
    (FORWARD, (-0.09, -0.02, -0.08), (0.07, 0.09, 0.05), (0.012, 0, 0.004), 0),
    (BACK, (-0.12, -0.05, -0.09), (0.05, 0.07, 0.04), (-0.006, 0, 0), 0.008),
    (BACK, (-0.08, -0.05, 0.10), (0.06, 0.07, 0.05), (0.006, 0, 0), -0.004)]


def direction(y, z):
    """Of the arm, turned about y, then about the resulting z."""
    y, z = np.radians(y), np.radians(z)
    return np.array([np.cos(z) * np.cos(y), np.sin(z), -np.cos(z) * np.sin(y)])


def swing(to):
    """Axis and angle of the shortest rotation that takes x to the direction."""
    across = np.hypot(to[1], to[2])
    if across == 0:
        return np.array([0, 0, 1.0]), 0.0
    return np.array([0, -to[2], to[1]]) / across, np.arctan2(across, to[0])


def shoulder_form(rest, to):
    axis, angle = swing(to)
    if angle == 0:
        return rest.copy()
    ways = max(to[1], 0), max(-to[1], 0), max(to[2], 0), max(-to[2], 0)
    p, normals = rest.copy(), solid_normals(rest)
    for way, at, width, move, out in STROKES:
        amount = ways[way] * np.exp(-(((rest - at) / width) ** 2).sum(axis=1))
        p += np.where(amount > 1e-4, amount, 0)[:, None] * (np.array(move) + out * normals)
    side = np.array([axis[2], -axis[1]])
    height = p[:, 1:] @ side
    begin, end = -0.055, 0.06
    turn = angle * np.abs(smooth((rest[:, 0] - begin) / (end - begin)) - 0.5)
    off = np.abs(rest[:, 0] - (begin + end) / 2)
    near = off < 1e-4
    limit = 0.9 * np.where(near, (end - begin) / (1.5 * angle), off / np.tan(np.where(near, 1, turn)))
    folds = smooth((rest[:, 0] + 0.09) / 0.04) * smooth((0.12 - height) / 0.05)
    p[:, 1:] -= (folds * (height - yielding(height, limit, 4)))[:, None] * side
    fold = smooth((height + 0.05) / 0.08)
    first, last = -0.10 + (begin + 0.10) * fold, 0.12 + (end - 0.12) * fold
    part = angle * smooth((rest[:, 0] - first) / (last - first))
    c, s = np.cos(part)[:, None], np.sin(part)[:, None]
    return c * p + s * np.cross(axis, p) + (1 - c) * (p @ axis)[:, None] * axis
