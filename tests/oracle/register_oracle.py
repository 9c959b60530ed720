"""One step of a registration compared with numpy: rotations, scales, and the minimum of the energy for them.

Everything is computed again from the formulas of docs/mathematics.md: dense matrices, rotations by singular values, and
the minimum as a least-squares problem with one row for every term. Usage: register_oracle.py PROBE
"""

import subprocess
import sys

import numpy as np


def closed_mesh(random, rings=6, around=9):
    """A lumpy closed surface, 0.4 m tall: rings between two poles."""
    points, faces = [[0, -0.2, 0]], []
    for r in range(rings):
        up = np.pi * (r + 1) / (rings + 1)
        for a in range(around):
            turn = 2 * np.pi * a / around + 0.2 * r
            points.append([0.1 * np.sin(up) * np.cos(turn), -0.2 * np.cos(up), 0.12 * np.sin(up) * np.sin(turn)])
    points.append([0, 0.2, 0])
    last = len(points) - 1

    def at(r, a):
        return 1 + r * around + a % around

    for a in range(around):
        faces.append([0, at(0, a), at(0, a + 1)])
        faces.append([last, at(rings - 1, a + 1), at(rings - 1, a)])
        for r in range(rings - 1):
            faces += [[at(r, a), at(r + 1, a), at(r + 1, a + 1)], [at(r, a), at(r + 1, a + 1), at(r, a + 1)]]
    return np.array(points) + random.normal(0, 0.003, (len(points), 3)), np.array(faces)


def laplacian(points, faces, stiffness):
    """Weights of edges {(i, j): w}, the Laplacian and the areas of vertices."""
    weights, areas = {}, np.zeros(len(points))
    for face in faces:
        p = points[face]
        area = np.linalg.norm(np.cross(p[1] - p[0], p[2] - p[0])) / 2
        areas[face] += area / 3
        for k in range(3):
            u, v = p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]
            cot = np.clip(u @ v / np.linalg.norm(np.cross(u, v)), -4, 4)
            pair = tuple(sorted((face[(k + 1) % 3], face[(k + 2) % 3])))
            weights[pair] = weights.get(pair, 0) + cot / 2
    matrix = np.zeros((len(points),) * 2)
    for (i, j), w in weights.items():
        w = max(w, 0.05) * (stiffness[i] + stiffness[j]) / 2
        weights[i, j] = w
        matrix[[i, j], [i, j]] += w
        matrix[[i, j], [j, i]] -= w
    return weights, matrix, areas


def turns_and_scales(points, x, weights, matrix, areas, width, scale_width):
    sums = np.zeros((len(points), 3, 3))
    for (i, j), w in weights.items():
        term = w * np.outer(x[i] - x[j], points[i] - points[j])
        sums[i] += term
        sums[j] += term
    smooth = np.linalg.solve(np.diag(areas) + width ** 2 * matrix, sums.reshape(-1, 9)).reshape(-1, 3, 3)
    turns = np.zeros_like(sums)
    for v, s in enumerate(smooth):
        a, _, b = np.linalg.svd(s)
        turns[v] = a @ np.diag([1, 1, np.sign(np.linalg.det(a @ b))]) @ b
    seen, own = np.zeros(len(points)), np.zeros(len(points))
    for (i, j), w in weights.items():
        e, d = points[i] - points[j], x[i] - x[j]
        for v in (i, j):
            seen[v] += w * d @ turns[v] @ e
            own[v] += w * e @ e
    ratio = 0.85 * np.clip(seen / own, 0.7, 1.4) + 0.15
    return turns, np.linalg.solve(np.diag(areas) + scale_width ** 2 * matrix, areas * ratio)


def minimum(points, weights, turns, scales, pulls, length):
    """The least-squares solution of all terms, one block of three rows each."""
    rows, right = [], []
    for (i, j), w in weights.items():
        block = np.zeros((3, len(points), 3))
        block[:, i] += np.eye(3)
        block[:, j] -= np.eye(3)
        e = points[i] - points[j]
        rows.append(length * np.sqrt(w) * block)
        right.append(length * np.sqrt(w) * (scales[i] * turns[i] @ e + scales[j] * turns[j] @ e) / 2)
    for vertices, shares, target, normal, weight, across in pulls:
        along = np.outer(normal, normal)
        n = np.sqrt(weight) * (np.sqrt(across) * (np.eye(3) - along) + along)
        block = np.zeros((3, len(points), 3))
        for v, share in zip(vertices, shares):
            block[:, v] += share * np.eye(3)
        rows.append(np.einsum("ij,jvk->ivk", n, block))
        right.append(n @ target)
    a = np.concatenate(rows).reshape(-1, 3 * len(points))
    return np.linalg.lstsq(a, np.concatenate(right), rcond=None)[0].reshape(-1, 3)


def run(probe, seed, across):
    random = np.random.default_rng(seed)
    points, faces = closed_mesh(random)
    stiffness = np.where(points[:, 1] > 0.1, 3.0, 1.0)
    angle = 0.9 * points[:, 1] / 0.2
    x = points * [1.1, 1.05, 0.95]
    x[:, 0], x[:, 2] = (np.cos(angle) * x[:, 0] - np.sin(angle) * x[:, 2], np.sin(angle) * x[:, 0] + np.cos(angle) * x[:, 2])
    x += random.normal(0, 0.004, x.shape)
    pulls = []
    for _ in range(40):
        face = faces[random.integers(len(faces))]
        shares = random.dirichlet([1, 1, 1]) if random.random() < 0.5 else np.array([1.0, 0, 0])
        normal = random.normal(size=3)
        pulls.append((face, shares, shares @ x[face] + random.normal(0, 0.02, 3), normal / np.linalg.norm(normal),
                      random.uniform(1e-4, 2e-3), across))
    width, scale_width, length = 0.03, 0.08, 0.05
    lines = [f"sizes {len(points)} {len(faces)} {len(pulls)} {width} {scale_width} {length}"]
    numbers = [np.concatenate([p, q, [s]]) for p, q, s in zip(points, x, stiffness)]
    lines += [" ".join(repr(float(v)) for v in row) for row in numbers]
    lines += [" ".join(map(str, face)) for face in faces]
    for vertices, shares, target, normal, weight, share in pulls:
        lines.append(" ".join(map(str, vertices)) + " " +
                     " ".join(repr(float(v)) for v in [*shares, *target, *normal, weight, share]))
    out = subprocess.run([probe], input="\n".join(lines), capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    got = {}
    for line in out.stdout.splitlines():
        word, *values = line.split()
        got.setdefault(word, []).append([float(v) for v in values])
    weights, matrix, areas = laplacian(points, faces, stiffness)
    turns, scales = turns_and_scales(points, x, weights, matrix, areas, width, scale_width)
    best = minimum(points, weights, turns, scales, pulls, length)
    off = [np.abs(np.array(got["turn"]).reshape(-1, 3, 3) - turns).max(), np.abs(np.ravel(got["scale"]) - scales).max(),
           np.abs(np.array(got["at"]) - best).max()]
    moved = np.linalg.norm(best - x, axis=1).max()
    print(f"seed {seed}, across {across}: rotations differ by {off[0]:.1e}, scales by {off[1]:.1e}, places by "
          f"{off[2]:.1e} m of {moved:.3f} m")
    assert moved > 0.005, "the problem does not move anything"
    assert off[0] < 1e-9 and off[1] < 1e-9 and off[2] < 2e-8, "too far apart"


if __name__ == "__main__":
    for number, part in ((1, 1.0), (2, 0.3), (3, 0.05), (4, 20.0)):
        run(sys.argv[1], number, part)
