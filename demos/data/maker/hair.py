"""Short hair: a shell over the scalp and locks along a field of directions, on the base head (decimetres)."""
import numpy as np
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

from noise import step

CENTRE = np.array((0, 7.55, 0.35))  # of the head
PARTING = 0.24                      # x
SHELL = 0.87                        # its height, of that of the locks
LOCKS, GAP, RINGS = 520, 0.07, 4


def inside(points):
    """About the distance to the hairline, above 0 where hair grows."""
    x, y, z = np.abs(points[..., 0]), points[..., 1], points[..., 2]
    forehead = 7.87 - 0.12 * (x / 0.5) ** 2 + 0.03 * np.cos(points[..., 0] * 9)
    temple = 7.30 + 0.62 * step(0.62, 1.05, z)
    nape = 6.62 + 0.55 * step(-0.1, 0.45, z)
    front = step(0.95, 1.2, z)
    edge = nape + step(0.5, 1.15, z) * (temple * (1 - front) + forehead * front - nape)
    ear = (np.hypot((y - 7.2) / 0.38, (z - 0.42) / 0.27) - 1) * 0.25
    return np.minimum(y - edge, np.where(x > 0.62, ear, 1))


def thickness(points, depth):
    return 0.02 + 0.15 * step(0, 0.35, depth) + 0.13 * step(7.9, 8.4, points[..., 1]) * step(0, 0.4, depth)


def flow(point, normal):
    """The direction in which hair is combed: away from the parting, back and down."""
    side, top, front = (1.0 if point[0] > PARTING else -1.0), step(7.9, 8.4, point[1]), step(0.75, 1.2, point[2])
    direction = np.array([side * (0.2 + 0.75 * top + 0.6 * front), -0.7 + 0.15 * top + 0.3 * front,
                          -0.75 - 0.15 * top])
    direction -= normal * (direction @ normal)
    return direction / np.linalg.norm(direction)


def normals(points, faces):
    a, b, c, d = (points[faces[:, i]] for i in range(4))
    found = np.zeros_like(points)
    for i in range(4):
        np.add.at(found, faces[:, i], np.cross(c - a, d - b))
    return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-12)


def scalp(points, body):
    """Points and faces of the skin that hair grows on; not the insides of ears."""
    out = ((points - CENTRE) * normals(points, body)).sum(axis=1)
    skull = (points[:, 1] > 6.3) & (points[:, 0] ** 2 < 1.2) & (out > 0.25) & (inside(points) > -0.02)
    faces = body[skull[body].all(axis=1)]
    used, numbers = np.unique(faces, return_inverse=True)
    return points[used], numbers.reshape(faces.shape)


def to_hairline(points, faces, outward, depth):
    """The points with those of the border moved along the skin to where hair begins."""
    pairs = np.sort(np.concatenate([faces[:, [i, (i + 1) % 4]] for i in range(4)]), axis=1)
    edges, uses = np.unique(pairs, axis=0, return_counts=True)
    border = np.unique(edges[uses == 1])
    moved = points.copy()
    for _ in range(3):
        at, small = moved[border], 0.01 * np.eye(3)
        slope = np.stack([inside(at + step) - inside(at - step) for step in small], axis=1) / 0.02
        slope -= outward[border] * (slope * outward[border]).sum(axis=1, keepdims=True)
        length = np.maximum((slope ** 2).sum(axis=1), 0.3)
        shift = -slope * (inside(at) / length)[:, None]
        moved[border] += shift * np.minimum(1, 0.08 / np.maximum(np.linalg.norm(shift, axis=1), 1e-9))[:, None]
    return moved


def strands(points):
    """Texture coordinates of the scalp: across and along the way it is combed."""
    side = np.hypot(points[:, 0] - PARTING, 0.2)
    across, along = 0.5 * side - 0.75 * points[:, 1] + 0.8 * points[:, 2], side - points[:, 1] - points[:, 2]
    return np.stack([0.03 + 0.94 * (values - values.min()) / np.ptp(values) for values in (across, -along)], axis=1)


def roots(points, faces, rng):
    """Places spread evenly, none nearer to another than GAP."""
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    a, b, c = (points[triangles[:, i]] for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    chosen = rng.choice(len(triangles), 20000, p=area / area.sum())
    tried = (points[triangles[chosen]] * rng.dirichlet((1, 1, 1), 20000)[:, :, None]).sum(axis=1)
    found = []
    for place in tried[inside(tried) > 0.03]:
        if all(((place - other) ** 2).sum() > GAP * GAP for other in found):
            found.append(place)
        if len(found) == LOCKS:
            break
    return found


def lock(root, points, outward, tree, rng):
    """[RINGS * 3, 3]: a ribbon with a ridge, which lies on the shell and tapers."""
    length = (0.85 + 0.4 * rng.random()) * (1 if root[1] > 7.6 else 0.6) / (RINGS - 1)
    width, bend, lifted = 0.06 * (0.8 + 0.5 * rng.random()), rng.normal(0, 0.1), rng.random()
    at, rings = root.copy(), []
    for ring in range(RINGS):
        t = ring / (RINGS - 1)
        nearest = tree.query(at)[1]
        normal = outward[nearest]
        base = at - normal * ((at - points[nearest]) @ normal)
        along = Rotation.from_rotvec(normal * bend * (0.4 + t)).apply(flow(base, normal))
        depth = inside(base)
        high = max(thickness(base, depth), 0.06 * step(0, 0.3, t)) * step(0, 0.45, t + 0.35 * step(0.05, 0.3, depth))
        middle = base + normal * (high + 0.004 + 0.03 * np.sin(np.pi * min(1, t * 1.15)) * (0.5 + 0.7 * lifted))
        across = np.cross(normal, along)
        half = width * (0.4 + 0.6 * step(0, 0.3, t)) * (1 - 0.96 * step(0.5, 1.02, t))
        low = middle - normal * 0.03
        rings += [low - across * half, middle + normal * half * 0.14, low + across * half]
        at = base + along * length
        if inside(at) < (0.0 if at[2] > 0.5 else -0.06):
            length *= 0.25  # hair does not run over the face or down the neck
    return np.array(rings)


def make(points, body, seed=3):
    """Points, faces (four corners each) and texture coordinates: across a lock, and along it."""
    rng = np.random.default_rng(seed)
    skin, faces = scalp(points, body)
    outward, depth = normals(skin, faces), inside(skin)
    skin = to_hairline(skin, faces, outward, depth)
    thin = 1 - 0.35 * step(0.2, -0.4, skin[:, 2]) * step(7.6, 7.0, skin[:, 1])
    forms, corners = [skin + outward * (SHELL * thickness(skin, depth) * thin)[:, None]], [faces]
    texcoords = [strands(skin)]
    tree, count = cKDTree(skin), len(skin)
    strip = np.array([[[3 * ring + i, 3 * ring + i + 1, 3 * ring + i + 4, 3 * ring + i + 3] for i in (0, 1)]
                      for ring in range(RINGS - 1)]).reshape(-1, 4)
    for root in roots(skin, faces, rng):
        forms.append(lock(root, skin, outward, tree, rng))
        corners.append(strip + count)
        count += RINGS * 3
        shade = 0.1 + 0.8 * rng.random()
        texcoords.append(np.stack([np.tile([shade - 0.04, shade, shade + 0.04], RINGS),
                                   np.repeat(np.linspace(0.02, 0.98, RINGS), 3)], axis=1))
    return np.concatenate(forms), np.concatenate(corners), np.concatenate(texcoords)


class Hair:
    """Hair that follows the head: every vertex is bound to a triangle of the scalp."""

    def __init__(self, source):
        body = np.array([[corner[0] for corner in face] for face in source.groups["body"]])
        form, self.faces, self.texcoords = make(source.points, body)
        triangles = np.concatenate([body[:, [0, 1, 2]], body[:, [0, 2, 3]]])
        at = source.points[triangles]
        triangles = triangles[(at[:, :, 1] > 6.3).all(axis=1) & (inside(at) > -0.05).all(axis=1)]
        nearest = cKDTree(source.points[triangles].mean(axis=1)).query(form)[1]
        self.triangles, self.scalp = triangles[nearest], np.unique(triangles)
        self.size = np.ptp(source.points[self.scalp], axis=0)
        origin, axes = self.frames(source.points)
        self.offsets = np.einsum("nij,ni->nj", axes, form - origin)
        self.weights = np.zeros((len(form), len(source.names)))
        self.weights[:, source.index["head"]] = 1

    def frames(self, whole):
        a, b, c = (whole[self.triangles[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        x = (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)
        return (a + b + c) / 3, np.stack([x, np.cross(normal, x), normal], axis=2)

    def fit(self, whole):
        origin, axes = self.frames(whole)
        scale = np.cbrt(np.prod(np.ptp(whole[self.scalp], axis=0) / self.size))
        return origin + scale * np.einsum("nij,nj->ni", axes, self.offsets)
