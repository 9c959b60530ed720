"""A small range scanner, not the product's: cameras around a body, a z-buffer for each, and meshes of what they see.

A camera looks from a point with perspective. Each pixel that hits a triangle becomes a vertex, moved along its ray by
noise. Neighbouring pixels become triangles. Pixels met at a grazing angle are lost, with a ragged edge, and triangles
that bridge a jump in depth too. Colours are those of skin, with round spots of paint around given points of the skin.
"""
from collections import namedtuple

import numpy as np
from scipy.spatial import cKDTree

COLOURS = np.array([[200, 30, 30], [25, 120, 40], [30, 50, 190], [245, 220, 40], [190, 30, 150], [30, 190, 205],
                    [25, 25, 25], [245, 245, 245]])
SKIN = np.array([205.0, 160.0, 135.0])

Camera = namedtuple("Camera", "place turn focal")     # turn: rows right, up, towards the viewer; focal in pixels
View = namedtuple("View", "points triangles colours square sources barys pixels")


def look(place, target, pitch):
    """pitch: metres between pixels at the target."""
    back = np.asarray(place, float) - target
    distance = np.linalg.norm(back)
    back /= distance
    right = np.cross([0, 1.0, 0], back)
    right /= np.linalg.norm(right)
    return Camera(np.asarray(place, float), np.stack([right, np.cross(back, right), back]), distance / pitch)


def ring(count, middle, height, pitch=0.003):
    """Cameras around the body, in turns low and high, and slightly off the regular angles."""
    cameras = []
    for n in range(count):
        angle = 2 * np.pi * (n + 0.25) / count
        level = (0.25, 0.95, 0.6)[n % 3] * height if count > 4 else (0.35, 0.8)[n % 2] * height
        place = np.array([np.sin(angle), 0, np.cos(angle)]) * 1.5 * max(height, 1.4) + [middle[0], level, middle[2]]
        cameras.append(look(place, np.array([middle[0], 0.5 * height, middle[2]]), pitch))
    return cameras


def project(camera, points):
    """Pixel coordinates x, y and the distance in front of the camera."""
    local = (points - camera.place) @ camera.turn.T
    depth = -local[:, 2]
    return np.stack([camera.focal * local[:, 0] / depth, camera.focal * local[:, 1] / depth, depth], axis=1)


def rasterise(camera, points, triangles):
    """The nearest triangle of every pixel: origin (of the image), triangle [h, w] or -1, depth, barycentrics [h, w, 3]."""
    p = project(camera, points)
    low = np.floor(p[:, :2].min(axis=0)).astype(int) - 2
    size = np.ceil(p[:, :2].max(axis=0)).astype(int) + 3 - low
    a, b, c = (p[triangles[:, k]] for k in range(3))
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    front = np.flatnonzero(area > 1e-9)
    corners = np.stack([a, b, c], axis=1)[front]
    first = np.ceil(corners[:, :, :2].min(axis=1)).astype(int)
    last = np.floor(corners[:, :, :2].max(axis=1)).astype(int)
    extent = (last - first + 1).max(axis=1)
    hits = []
    edges = [0, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128, 1 << 20]
    for small, large in zip(edges[:-1], edges[1:]):
        group = np.flatnonzero((extent > small) & (extent <= large) & ((last >= first).all(axis=1)))
        if len(group) == 0:
            continue
        side = int(extent[group].max())
        grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=2).reshape(-1, 2)
        for chunk in np.array_split(group, max(1, len(group) * side * side // 2000000)):
            hits.append(_cover(corners[chunk], front[chunk], first[chunk], area[front[chunk]], grid))
    where, which, depth, bary = (np.concatenate([h[k] for h in hits]) for k in range(4))
    at = (where[:, 1] - low[1]) * size[0] + where[:, 0] - low[0]
    order = np.argsort(-depth, kind="stable")  # the nearest is written last
    triangle = np.full(size[0] * size[1], -1)
    row = np.full(size[0] * size[1], -1)
    row[at[order]] = order
    seen = row >= 0
    triangle[seen] = which[row[seen]]
    depths, barys = np.full(len(row), np.inf), np.zeros((len(row), 3))
    depths[seen], barys[seen] = depth[row[seen]], bary[row[seen]]
    shape = (size[1], size[0])
    return low, triangle.reshape(shape), depths.reshape(shape), barys.reshape(*shape, 3)


def _cover(corners, names, first, area, grid):
    """Pixels inside triangles. Barycentrics are corrected for perspective."""
    x = first[:, None, 0] + grid[None, :, 0]
    y = first[:, None, 1] + grid[None, :, 1]
    weights = []
    for k in range(3):
        p, q = corners[:, (k + 1) % 3], corners[:, (k + 2) % 3]
        w = ((q[:, 0] - p[:, 0])[:, None] * (y - p[:, 1][:, None])
             - (q[:, 1] - p[:, 1])[:, None] * (x - p[:, 0][:, None])) / area[:, None]
        weights.append(w)
    inside = (weights[0] >= 0) & (weights[1] >= 0) & (weights[2] >= 0)
    rows, columns = np.nonzero(inside)
    bary = np.stack([w[rows, columns] for w in weights], axis=1) / corners[rows][:, :, 2]
    total = bary.sum(axis=1, keepdims=True)
    return np.stack([x[rows, columns], y[rows, columns]], axis=1), names[rows], 1 / total[:, 0], bary / total


def seen(camera, points, triangles, normals, slack=0.003):
    """[points]: cosine of the angle at which the camera sees a vertex, 0 if something hides it."""
    low, triangle, depth, _ = rasterise(camera, points, triangles)
    p = project(camera, points)
    x, y = (np.round(p[:, k]).astype(int) - low[k] for k in range(2))
    ray = camera.place - points
    ray /= np.linalg.norm(ray, axis=1, keepdims=True)
    square = (ray * normals).sum(axis=1)
    near = np.minimum.reduce([depth[np.clip(y + dy, 0, depth.shape[0] - 1), np.clip(x + dx, 0, depth.shape[1] - 1)]
                              for dx, dy in ((0, 0),)])
    front = p[:, 2] < near + slack / np.maximum(square, 0.1)
    return np.where(front & (square > 0), square, 0.0)


def scan_view(camera, points, triangles, skin, spots, random, noise=0.0005, grazing=15.0, jump=6.0, spot_size=0.012,
              stage=None):
    """One view. skin [points, 3]: the body at rest, where spots (places [n, 3], colour numbers [n]) are painted. stage:
    (points, triangles) of floor and stand, seen too. A View: square is the cosine of the angle at every vertex, sources
    the triangle that it lies on, with barycentrics; floor and stand have numbers after the body's."""
    count = len(triangles)
    if stage is not None:
        triangles = np.concatenate([triangles, stage[1] + len(points)])
        points = np.concatenate([points, stage[0]])
    low, triangle, depth, bary = rasterise(camera, points, triangles)
    y, x = np.nonzero(triangle >= 0)
    which, share = triangle[y, x], bary[y, x]
    corners = points[triangles[which]]
    place = (share[:, :, None] * corners).sum(axis=1)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    ray = camera.place - place
    ray /= np.linalg.norm(ray, axis=1, keepdims=True)
    square = (ray * normal).sum(axis=1)
    ragged = np.sin(np.radians(grazing)) * (1 + 0.3 * random.normal(size=len(square)))
    keep = square > ragged
    y, x, which, share, place, square, ray = (v[keep] for v in (y, x, which, share, place, square, ray))
    measured = place + ray * (noise * random.normal(size=len(ray)))[:, None]
    number = np.full(triangle.shape, -1)
    number[y, x] = np.arange(len(x))
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    faces = np.concatenate([np.stack(t, axis=2).reshape(-1, 3) for t in ((a, b, c), (a, c, d))])
    faces = faces[(faces >= 0).all(axis=1)]
    longest = np.max([np.linalg.norm(place[faces[:, k]] - place[faces[:, (k + 1) % 3]], axis=1) for k in range(3)], axis=0)
    pitch = depth[triangle >= 0].mean() / camera.focal
    faces = faces[longest < jump * pitch]
    colours = paint(which, share, count, triangles, skin, spots, spot_size, square, random)
    used = np.unique(faces)
    again = np.full(len(measured), -1)
    again[used] = np.arange(len(used))
    return View(measured[used], again[faces], colours[used], square[used], which[used], share[used],
                np.stack([x, y], axis=1)[used])


def paint(which, share, count, triangles, skin, spots, size, square, random):
    body = which < count
    colours = np.empty((len(which), 3))
    colours[:] = [110, 115, 120]
    colours[body] = SKIN
    if spots is not None and len(spots[0]) and body.any():
        material = (share[body][:, :, None] * skin[triangles[which[body]]]).sum(axis=1)
        off, nearest = cKDTree(spots[0]).query(material, distance_upper_bound=0.5 * size)
        inside = np.isfinite(off)
        rows = np.flatnonzero(body)[inside]
        colours[rows] = COLOURS[np.asarray(spots[1])[nearest[inside]]]
    light = 0.8 + 0.2 * square[:, None]
    return np.clip(colours * light + 3 * random.normal(size=colours.shape), 0, 255).astype(np.uint8)


def stage_mesh(stand=True):
    """Floor of 5 cm tiles, and a pole with a box beside the person."""
    line = np.arange(-24, 25) * 0.05
    x, z = np.meshgrid(line, line, indexing="ij")
    points = np.stack([x, np.zeros_like(x), z], axis=2).reshape(-1, 3) - [0, 0.002, 0]
    n = len(line)
    a = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate([np.stack([a, a + 1, a + n + 1], axis=1), np.stack([a, a + n + 1, a + n], axis=1)])
    if stand:
        low, high = np.array([0.75, 0, -0.55]), np.array([0.8, 1.5, -0.5])
        for level in range(30):
            bottom, top = low + [0, 0.05 * level, 0], np.array([high[0], 0.05 * (level + 1), high[2]])
            box = np.array([[(bottom, top)[i][0], (bottom, top)[j][1], (bottom, top)[k][2]]
                            for i in (0, 1) for j in (0, 1) for k in (0, 1)])
            sides = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
            sides = np.concatenate([sides[:, [0, 1, 2]], sides[:, [0, 2, 3]]]) + len(points)
            faces, points = np.concatenate([faces, sides]), np.concatenate([points, box])
    return points, faces


def thin(view, cell):
    """Decimates by clusters: one vertex in each cube of this edge, in metres."""
    keys = np.floor(view.points / cell).astype(np.int64)
    keys -= keys.min(axis=0)
    _, first, group = np.unique(keys[:, 0] + (keys[:, 1] << 20) + (keys[:, 2] << 40), return_index=True,
                                return_inverse=True)
    faces = group[view.triangles]
    faces = faces[(faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])]
    return View(view.points[first], faces, view.colours[first], view.square[first], view.sources[first],
                view.barys[first], view.pixels[first])


def merge(views, cell=0.004):
    """One mesh of all views: where two saw the same skin, the triangles of the one that saw it more squarely stay."""
    points = np.concatenate([v.points for v in views])
    square = np.concatenate([v.square for v in views])
    owner = np.concatenate([np.full(len(v.points), n) for n, v in enumerate(views)])
    keys = np.floor(points / cell).astype(np.int64)
    keys -= keys.min(axis=0)
    keys = keys[:, 0] + (keys[:, 1] << 20) + (keys[:, 2] << 40)
    order = np.lexsort((-square, keys))
    _, start, group = np.unique(keys[order], return_index=True, return_inverse=True)
    best = np.empty(len(points), int)
    best[order] = owner[order[start]][group]
    starts = np.cumsum([0] + [len(v.points) for v in views])
    faces = np.concatenate([v.triangles + s for v, s in zip(views, starts)])
    faces = faces[(best[faces] == owner[faces]).any(axis=1)]
    used, faces = np.unique(faces, return_inverse=True)
    joined = [np.concatenate([getattr(v, name) for v in views])[used]
              for name in ("colours", "square", "sources", "barys", "pixels")]
    return View(points[used], faces.reshape(-1, 3), *joined)


def write_ply(path, points, triangles=None, colours=None, normals=None):
    fields = [("x", "<f4"), ("y", "<f4"), ("z", "<f4")]
    if normals is not None:
        fields += [("nx", "<f4"), ("ny", "<f4"), ("nz", "<f4")]
    if colours is not None:
        fields += [("red", "u1"), ("green", "u1"), ("blue", "u1")]
    rows = np.zeros(len(points), fields)
    for k, name in enumerate("xyz"):
        rows[name] = points[:, k]
    for k, name in enumerate(("nx", "ny", "nz")):
        if normals is not None:
            rows[name] = normals[:, k]
    for k, name in enumerate(("red", "green", "blue")):
        if colours is not None:
            rows[name] = colours[:, k]
    kinds = {"<f4": "float", "u1": "uchar"}
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {len(points)}"]
    head += [f"property {kinds[kind]} {name}" for name, kind in fields]
    if triangles is not None:
        head += [f"element face {len(triangles)}", "property list uchar int vertex_indices"]
    with open(path, "wb") as file:
        file.write(("\n".join([*head, "end_header"]) + "\n").encode())
        file.write(rows.tobytes())
        if triangles is not None:
            faces = np.zeros(len(triangles), [("n", "u1"), ("v", "<i4", 3)])
            faces["n"], faces["v"] = 3, triangles
            file.write(faces.tobytes())
